"""Which files of a crate in Rust use which others of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_EXPORTS = re.compile(r"pub use (\w+(?:::\w+)*)::(?:\{([^}]*)\}|(\w+))")
_PATHS = re.compile(r"\b(crate|super|self)((?:::\w+)+)(?:::\{([^}]*)\})?")


class Modules:
    """The files below `folder`, a crate's `src`, each by its path in the crate: `collector::tasks`."""

    def __init__(self, folder: Path) -> None:
        """Reads them, without their tests and comments; `lib.rs` says what it exports."""
        self._texts = {_module(file.relative_to(folder)): _code(file) for file in folder.rglob("*.rs")}
        exported = _EXPORTS.findall(self._texts.pop("lib"))
        self._exports = {
            name.strip(): module for module, several, one in exported for name in (several or one).split(",")
        }

    def uses(self) -> dict[str, set[str]]:
        """The files that each one names."""
        return {
            module: {found for path in _paths(module, text) if (found := self._file(path))} - {module}
            for module, text in self._texts.items()
        }

    def _file(self, path: str) -> str | None:
        parts = path.split("::")
        parts[:1] = [*self._exports.get(parts[0], "").split("::"), parts[0]]
        parts = [part for part in parts if part]
        while parts and "::".join(parts) not in self._texts:
            parts.pop()
        return "::".join(parts) or None


def circles(uses: dict[str, set[str]]) -> list[set[str]]:
    """Files that use each other, directly or by way of others, as sets of two or more."""
    reached = {start: _reached(start, uses) for start in uses}
    together = {
        frozenset(other for other in uses if other in reached[each] and each in reached[other])
        for each in uses
    }
    return [set(each) for each in together if len(each) > 1]


def _reached(start: str, uses: dict[str, set[str]]) -> set[str]:
    found, rest = set[str](), [start]
    while rest:
        new = uses[rest.pop()] - found
        found |= new
        rest += new
    return found


def _module(file: Path) -> str:
    parts = file.with_suffix("").parts
    return "::".join(parts[:-1] if parts[-1] == "mod" else parts)


def _code(file: Path) -> str:
    return re.sub(r"//[^\n]*", "", file.read_text(encoding="utf-8").split("#[cfg(test)]")[0])


def _paths(module: str, text: str) -> Iterator[str]:
    """The paths that a file names, from the root of the crate."""
    for base, path, several in _PATHS.findall(text):
        begin = {"crate": [], "self": [module], "super": module.split("::")[:-1]}[base]
        for name in several.split(",") if several else [""]:
            yield "::".join([*begin, *path.split("::")[1:], *name.split("::")]).replace(" ", "").strip(":")
