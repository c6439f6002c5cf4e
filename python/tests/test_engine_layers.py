"""The crates of the engine are layers: each imports what the table of `engine/README.md` says."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest
from rust_modules import Modules, circles

ENGINE = Path(__file__).parents[2] / "engine"
PREFIX = "rackwright-"


@dataclass(frozen=True)
class Crate:
    """A line of the table: where the crate is, and which crates it may import."""

    path: str
    imports: frozenset[str]

    @property
    def name(self) -> str:
        """The name of its folder, and after `rackwright-` of its package."""
        return self.path.split("/")[-1]

    @property
    def floor(self) -> str:
        """The folder of `crates/` that holds it."""
        return self.path.split("/")[0]

    @property
    def folder(self) -> Path:
        """Where its Cargo.toml is."""
        return ENGINE / "crates" / self.path


def crates() -> list[Crate]:
    """Crates in the order of the table."""
    rows = re.findall(
        r"^\| `([a-z/]+)` \|[^|]+\| ([^|]+) \|$", (ENGINE / "README.md").read_text(), re.MULTILINE
    )
    return [Crate(path, frozenset(re.findall(r"`([a-z]+)`", imports))) for path, imports in rows]


def dependencies(manifest: str) -> set[str]:
    """Crates of the engine that a Cargo.toml has its library depend on."""
    return {
        name.removeprefix(PREFIX)
        for name in tomllib.loads(manifest).get("dependencies", {})
        if name.startswith(PREFIX)
    }


def used(source: str) -> set[str]:
    """Crates of the engine that a file of Rust names in its code."""
    code = re.sub(r"//[^\n]*", "", source)
    return set(re.findall(r"\brackwright_([a-z]+)\b", code))


def sources(crate: Crate) -> set[str]:
    """Crates of the engine that the library of `crate` names."""
    return set().union(*(used(file.read_text()) for file in (crate.folder / "src").rglob("*.rs")))


@pytest.mark.parametrize("crate", crates(), ids=lambda crate: crate.name)
def test_a_crate_imports_what_its_line_names(crate: Crate) -> None:
    assert dependencies((crate.folder / "Cargo.toml").read_text()) == crate.imports
    assert sources(crate) >= crate.imports, f"{crate.name} does not use all that it depends on"


@pytest.mark.parametrize("crate", crates(), ids=lambda crate: crate.name)
def test_a_crate_imports_those_above_it(crate: Crate) -> None:
    names = [each.name for each in crates()]
    assert crate.imports <= set(names[: names.index(crate.name)])


@pytest.mark.parametrize(
    ("call", "file"),
    [
        (r"\bhart\.run\(", "rtl/unit/src/core.rs"),
        (r"\bcores\[\w+\]\.run\(", "machine/machine/src/hardware.rs"),
        (r"\bhardware\.run\(", "machine/machine/src/machine.rs"),
    ],
)
def test_one_loop_steps_harts(call: str, file: str) -> None:
    """From the turns of a machine over a hart with its units to the hart, each has one caller."""
    callers = [
        str(path.relative_to(ENGINE / "crates"))
        for crate in crates()
        for path in (crate.folder / "src").rglob("*.rs")
        if re.search(call, path.read_text())
    ]
    assert callers == [file]


def test_a_floor_is_one_block_of_the_table() -> None:
    floors = [crate.floor for crate in crates()]
    assert floors == sorted(floors, key=floors.index)


def test_every_crate_is_in_the_table() -> None:
    folders = {file.parent.relative_to(ENGINE / "crates") for file in (ENGINE / "crates").rglob("Cargo.toml")}
    assert {str(folder) for folder in folders} == {crate.path for crate in crates()}


def test_what_is_used_is_seen() -> None:
    source = "use rackwright_time::Cycle; // as rackwright_stats\nlet hart: rackwright_cpu::Hart;"
    assert used(source) == {"time", "cpu"}


def test_what_a_library_depends_on_is_seen() -> None:
    libraries = "[dependencies]\nrackwright-time.workspace = true\nlibc = '1'\n"
    assert dependencies(f"{libraries}[dev-dependencies]\nrackwright-cpu = {{}}\n") == {"time"}


def test_files_that_use_each_other_are_a_circle() -> None:
    uses = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set[str]()}
    assert circles(uses) == [{"b", "c"}]


@pytest.mark.parametrize("path", ["core/trace", "network/server", "rtl/unit"])
def test_no_file_uses_one_that_uses_it(path: str) -> None:
    uses = Modules(ENGINE / "crates" / path / "src").uses()
    assert sum(map(len, uses.values())) > len(uses), "the files are read"
    assert circles(uses) == []
