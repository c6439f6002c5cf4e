"""Dependencies of test files, from the imports anywhere in the sources."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bootstrap.paths import PYTHON

PACKAGES = ("bootstrap", "rackwright")
FOLDERS = {"examples", "soc"}
"""Folders of the repository that only some modules of the package use."""

TESTS = PYTHON / "tests"
CONFTEST = TESTS / "conftest.py"

ANOTHER_PYTHON = (
    "subprocess", "command_line", "runpy", "importlib", "multiprocessing", "distributed", "mpi4py",
)  # fmt: skip
"""Imports by which a test starts programs, or imports modules by names that it computes: any of ours."""

_HERE = Path(__file__).parent
_PACKAGE = _HERE.parent

_LAZY = _PACKAGE / "__init__.py"
"""It imports the module of a name when the name is used."""


@dataclass(frozen=True)
class Source:
    """A Python file: the modules that it imports, and the names that it uses from the package itself.

    `folders` are those of the repository in whose files it is interested: the first part of each path in it.
    """

    path: Path
    imports: frozenset[str]
    names: frozenset[str]
    folders: frozenset[str]

    @property
    def text(self) -> str:
        """The file."""
        return self.path.read_text(encoding="utf-8")


@cache
def source(path: Path) -> Source:
    """The file, parsed."""
    imports, names, folders = set(), set(), set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imports |= {alias.name for alias in node.names}
            # Users of the package may use each of its names.
            names |= {name for alias in node.names if alias.name == "rackwright" for name in _homes()}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            imports |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {alias.name for alias in node.names if node.module == "rackwright"}
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "importlib.import_module":
            imports |= _named(node.args[0])
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and " " not in node.value:
            folders.add(node.value.partition("/")[0])
    return Source(path, frozenset(imports), frozenset(names), frozenset(folders & FOLDERS))


def _named(module: ast.expr) -> set[str]:
    """The import of this name: for f"PACKAGE.{name}", any module of the package."""
    if isinstance(module, ast.Constant):
        return {str(module.value)}
    if isinstance(module, ast.JoinedStr) and isinstance(module.values[0], ast.Constant):
        package = str(module.values[0].value).removesuffix(".")
        return {f"{package}.{path.stem}" for path in PYTHON.joinpath(*package.split(".")).iterdir()}
    return set()


@cache
def _homes() -> Mapping[str, str]:
    """By name: the module that the package takes it from, as `rackwright/__init__.py` lists them."""
    for node in ast.parse(_LAZY.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_HOMES":
            listed: dict[str, tuple[str, ...]] = ast.literal_eval(node.value)
            return {name: f"rackwright.{module}" for module, names in listed.items() for name in names}
    raise AssertionError(f"{_LAZY} has no _HOMES")


def _files_of(module: str) -> list[Path]:
    """The files that are read to import a module of ours or one beside the tests; none for one of others."""
    parts = module.split(".")
    if parts[0] in PACKAGES:
        packages = [PYTHON.joinpath(*parts[:end], "__init__.py") for end in range(1, len(parts) + 1)]
        return [path for path in (*packages, PYTHON.joinpath(*parts).with_suffix(".py")) if path.is_file()]
    beside = [folder / f"{parts[0]}.py" for folder in (TESTS, TESTS / "cluster")]
    return [path for path in beside if path.is_file()]


@cache
def _read_by(path: Path) -> frozenset[Path]:
    """The files that are read for the imports of a file."""
    parsed = source(path)
    modules = parsed.imports | {_homes()[name] for name in parsed.names & _homes().keys()}
    return frozenset(file for module in modules for file in _files_of(module))


def closure(paths: Iterable[Path]) -> frozenset[Path]:
    """These files and all that they import, ours alone."""
    waiting, found = list(paths), set[Path]()
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _read_by(path)
    return frozenset(found)


@dataclass(frozen=True)
class TestFile:
    """A test file with its dependencies: `sources`, and arbitrary ones if it `starts_programs`."""

    __test__ = False

    path: Path
    sources: frozenset[Path]
    starts_programs: bool

    @property
    def name(self) -> str:
        """Its path as pytest takes it."""
        return str(self.path.relative_to(PYTHON))

    def uses(self, folder: str) -> bool:
        """Whether a module of the package that it imports names a file in one of `FOLDERS`."""
        ours = (path for path in self.sources if path.is_relative_to(_PACKAGE) and path.parent != _HERE)
        return any(folder in source(path).folders for path in ours)

    def mentions(self, word: str) -> bool:
        """Whether it, or a file beside it that it imports, has `word` in it."""
        beside = [path for path in self.sources if path.is_relative_to(TESTS) and path != CONFTEST]
        return any(word in source(path).text for path in beside)


@cache
def files_of_tests() -> tuple[TestFile, ...]:
    """All of them. All of them depend on the imports of conftest.py."""
    return tuple(map(_file_of_tests, sorted(TESTS.rglob("test_*.py"))))


def _file_of_tests(path: Path) -> TestFile:
    sources = closure([path, CONFTEST])
    beside = [source(each).imports for each in sources if each.is_relative_to(TESTS)]
    return TestFile(path, sources, any(name in imports for imports in beside for name in ANOTHER_PYTHON))
