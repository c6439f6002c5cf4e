"""Selection of parts of the suite: all, those with a name, or those that a change can affect."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bootstrap.paths import ENGINE, PYTHON, REPOSITORY
from rackwright.errors import RackwrightError
from rackwright.reports.history import git
from rackwright.testing.imports import CONFTEST, TESTS, files_of_tests

PREFIX = "rackwright-"
"""The prefix of our crates' names."""

_PROSE = (".md",)
_TEXTS = ("docs", "validation", "examples")
"""Folders whose files are read by tests with the folder's name in them; no module imports from there."""


@dataclass(frozen=True)
class Selection:
    """Parts of the suite.

    `lints` are those of Python, `blocks` the tests of hardware in Scala. `crates` are the tested Rust
    packages, and `tests` the arguments of pytest (files, or tests in them): None means all, () none. `names`
    are parts of tests' names; a test runs if its name contains one.
    """

    lints: bool = True
    crates: tuple[str, ...] | None = None
    blocks: bool = True
    tests: tuple[str, ...] | None = None
    names: tuple[str, ...] = ()


EVERYTHING = Selection()
_NOTHING = Selection(False, (), False, ())


def _both(one: Selection, other: Selection) -> Selection:
    """The contents of one of them."""

    def together(some: tuple[str, ...] | None, more: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return None if some is None or more is None else tuple(sorted({*some, *more}))

    return Selection(
        one.lints or other.lints,
        together(one.crates, other.crates),
        one.blocks or other.blocks,
        together(one.tests, other.tests),
        one.names + other.names,
    )


def named(words: Sequence[str], here: Path) -> Selection:
    """The tests that `words` name: crates, tests by file (as seen from `here`) or by parts of their names.

    For another file of the repository, the tests that its change can affect. Raises `RackwrightError` for a
    file elsewhere, and for one that does not exist.
    """
    found = _NOTHING
    for word in words:
        file, _, inside = word.partition("::")
        path = (here / file).resolve()
        if PREFIX + word.removeprefix(PREFIX) in crates():
            found = _both(found, Selection(False, (PREFIX + word.removeprefix(PREFIX),), False, ()))
        elif not path.exists() and "/" in file:
            raise RackwrightError(f"{file}: no such file in {here}; tests of pytest are in {TESTS}")
        elif not path.exists():
            found = _both(found, Selection(False, (), False, (), (word,)))
        elif path.is_relative_to(TESTS) and path != CONFTEST:
            test = str(path.relative_to(PYTHON)) + (f"::{inside}" if inside else "")
            found = _both(found, Selection(False, (), False, (test,)))
        elif path.is_relative_to(REPOSITORY):
            files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
            found = _both(found, affected(files))
        else:
            raise RackwrightError(f"{word}: is not in {REPOSITORY}")
    if found.names and not found.tests:
        return Selection(found.lints, found.crates, found.blocks, None, found.names)
    return found


def changed_since(revision: str) -> list[Path]:
    """Files that differ from `revision` in Git, including untracked ones.

    Raises `RackwrightError` when it has no such revision.
    """
    difference = git("diff", "--name-only", "--no-renames", "-z", revision, "--")
    unknown = git("ls-files", "--others", "--exclude-standard", "-z")
    return [REPOSITORY / name for name in sorted({*difference.split("\0"), *unknown.split("\0")}) if name]


def affected(changed: Iterable[Path]) -> Selection:
    """The tests that can fail because of changes in these files: rather too many than too few."""
    found = _NOTHING
    for path in changed:
        found = _both(found, _affected_by(path))
    return found


def _affected_by(path: Path) -> Selection:
    parts = path.relative_to(REPOSITORY).parts
    if path.suffix in _PROSE or parts[0] in _TEXTS:
        return _of_texts(path, parts)
    if parts[0] == "engine" and "crates" in parts:
        return _of_crate(path)
    if parts[:3] == ("hardware", "src", "test"):
        return Selection(False, (), True, ())
    if parts[:4] == ("hardware", "src", "main", "resources"):
        # Crates read them as well.
        return Selection(False, None, True, None)
    if parts[0] == "hardware":
        return Selection(False, (), True, None)
    if parts[0] == "soc":
        return Selection(
            False,
            (),
            True,
            tuple(each.name for each in files_of_tests() if each.mentions("soc") or each.uses("soc")),
        )
    if parts[0] == "software":
        return Selection(False, None, False, None)
    if parts[0] == "python":
        return _of_python(path)
    return EVERYTHING


def _of_texts(path: Path, parts: tuple[str, ...]) -> Selection:
    """Tests that read texts; for tables and scripts, also those of modules that read the folder."""
    words = {path.name, *parts[:1], *([".md", "docs"] if path.suffix in _PROSE else [])}
    readers = [
        each.name
        for each in files_of_tests()
        if any(map(each.mentions, words)) or (path.suffix not in _PROSE and each.uses(parts[0]))
    ]
    if parts[0] == "validation" and path.suffix not in _PROSE:
        # The package itself reads tables, and crates compare themselves with recordings.
        return Selection(False, None, False, None)
    return Selection(path.suffix == ".py", (), False, tuple(readers))


def _of_python(path: Path) -> Selection:
    within = path.is_relative_to(TESTS)
    # Who imported a module that is gone is not to be seen from what there is.
    if path.suffix == ".py" and path != CONFTEST and path.exists():
        # A test that starts programs may import any module so, and those beside the tests that it names.
        is_test = path.name.startswith("test_")
        users = [
            each
            for each in files_of_tests()
            if path in each.sources
            or (each.starts_programs and (not within or (not is_test and each.mentions(path.name))))
        ]
    elif within and path.suffix != ".py":
        users = [each for each in files_of_tests() if each.mentions(path.parent.name)]
    else:
        return Selection(True, (), False, None)
    return Selection(path.suffix == ".py", (), False, tuple(each.name for each in users))


def _of_crate(path: Path) -> Selection:
    """The crate and those that depend on it; if it is part of the engine, all tests that use the engine."""
    owners = [name for name, (folder, _) in crates().items() if path.is_relative_to(folder)]
    if not owners:
        return EVERYTHING
    [owner] = owners
    if path.is_relative_to(crates()[owner][0] / "tests"):
        return Selection(False, (owner,), False, ())
    users, waiting = set[str](), [owner]
    while waiting:
        name = waiting.pop()
        users.add(name)
        waiting += [other for other, (_, uses) in crates().items() if name in uses and other not in users]
    is_engine = f"{PREFIX}python" in users
    tested = tuple(sorted(users - {f"{PREFIX}python"}))
    return Selection(False, tested or (f"{PREFIX}python",), False, None if is_engine else ())


@cache
def crates() -> dict[str, tuple[Path, frozenset[str]]]:
    """Our crates by their names: the folder of each, and its dependencies, including those of tests."""
    command = ["cargo", "metadata", "--format-version=1", "--no-deps", "--offline"]
    result = subprocess.run(command, cwd=ENGINE, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise RackwrightError(f"cargo metadata: {result.stderr.strip()}")
    return {
        each["name"]: (
            Path(each["manifest_path"]).parent,
            frozenset(dependency["name"] for dependency in each["dependencies"]),
        )
        for each in json.loads(result.stdout)["packages"]
    }
