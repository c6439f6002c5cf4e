"""Files of these crates of the engine import each other in one direction."""

from __future__ import annotations

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

CRATES = Path(__file__).parents[2] / "engine" / "crates"
WITHOUT_CIRCLES = ("base/link", "machine/device", "network/server", "rtl/unit")

_USE = re.compile(r"\b(crate|super|self)((?:::\w+)*)(?:::\{([^}]*)\})?")
_EXPORT = re.compile(r"pub use (\w+(?:::\w+)*)::(\{[^}]*\}|\w+)")


def imports(sources: dict[str, str]) -> dict[str, set[str]]:
    """By file of a crate, as the path of its module, the files it uses; `sources` has `lib`, too."""
    exports = _EXPORT.findall(sources["lib"])
    exported = {name: module for module, names in exports for name in re.findall(r"\w+", names)}
    return {
        file: {found for path in used(file, text) if (found := target(path, set(sources), exported))} - {file}
        for file, text in sources.items()
        if file != "lib"
    }


def used(file: str, text: str) -> list[list[str]]:
    """Paths that a file names in its code, from the root of its crate."""
    code = re.sub(r"//[^\n]*|\bpub\([^)]*\)", "", text).split("#[cfg(test)]")[0]
    own = file.split("::")
    start = {"crate": [], "super": own[:-1], "self": own}
    paths = []
    for root, path, names in _USE.findall(code):
        base = start[root] + path.split("::")[1:]
        paths += [[*base, name] for name in re.findall(r"\w+", names)] or [base]
    return paths


def target(path: list[str], files: set[str], exported: dict[str, str]) -> str | None:
    """The file that holds what a path leads to."""
    for length in range(len(path), 0, -1):
        if (file := "::".join(path[:length])) in files:
            return file
    return exported.get(path[0]) if path else None


def circle(sources: dict[str, str]) -> list[str]:
    """Files that import each other in a circle; none if there is no circle."""
    try:
        TopologicalSorter(imports(sources)).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


@pytest.mark.parametrize("crate", WITHOUT_CIRCLES)
def test_files_import_each_other_in_one_direction(crate: str) -> None:
    folder = CRATES / crate / "src"
    files = folder.rglob("*.rs")
    sources = {"::".join(file.relative_to(folder).with_suffix("").parts): file.read_text() for file in files}
    assert circle(sources) == []


def test_circles_are_found() -> None:
    sources = {
        "lib": "mod one; mod other; pub use other::{Other, Third};",
        "one": "use crate::Other;",
        "other": "use super::other::inner::Deep;",
        "other::inner": "use crate::one::One; // a circle",
    }
    assert set(circle(sources)) == {"one", "other", "other::inner"}
    assert circle(sources | {"other::inner": "// use crate::one::One;"}) == []
