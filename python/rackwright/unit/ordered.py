"""The unit `ordered-index` alone, with a tree that `rackwright/ordered.h` has made."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rackwright.unit.alone import Unit
from rackwright.unit.commands import Completion, operate
from rackwright.unit.config import UnitConfig

NODE_BYTES = 64
NO_LEVEL = 15
END = 0xFFFF_FFFF_FFFF_FFFF
"""No key: what a place of a node has that is not used."""

_TREE = struct.Struct("<4I I4xQQQ16I")
_QUERY = struct.Struct("<QQ")
_ANSWER = struct.Struct("<IIQ")


@dataclass(frozen=True)
class Pattern:
    """The nodes that the cache takes: of two levels, in blocks of a power of two keys."""

    near_level: int = 0
    near_shift: int = 0
    wide_level: int = NO_LEVEL
    wide_shift: int = 0


@dataclass(frozen=True)
class Answer:
    """The number of keys of a range, the value of the first (0: none), and the sum of all values."""

    count: int
    first: int
    sum: int


class OrderedUnit:
    """The unit, and a tree in its memory."""

    def __init__(
        self, parameters: Mapping[str, int | str] | None = None, *, assertions: bool = False
    ) -> None:
        """Elaborates and compiles it; it has no tree yet."""
        self.unit = Unit(UnitConfig("ordered-index", parameters or {}), assertions=assertions)

    def open(self, tree: bytes, pattern: Pattern, **changed: int) -> None:
        """Gives the unit another tree and forgets buffers. `changed` are settings with another value."""
        self.unit.release_all()
        root, height, used, _, version = _TREE.unpack_from(tree)[:5]
        settings = {
            "nodes": self.unit.load(tree).address,
            "root": root | height << 32,
            "node_limit": used,
            "near": pattern.near_level | pattern.near_shift << 4,
            "wide": pattern.wide_level | pattern.wide_shift << 4,
            "tree_version": version,
        }
        for name, value in {**settings, **changed}.items():
            self.unit.command(name, value)

    def run(self, data: bytes, room: int, *, misalignment: int = 0) -> tuple[Completion, list[Answer]]:
        """One operation over queries; how it ended and what it answered."""
        source = self.unit.load(data, misalignment=misalignment)
        target = self.unit.reserve(room, misalignment=3 * misalignment % 64)
        ended = operate(self.unit, source, target, max_cycles=1_000_000 + 1000 * len(data))
        return ended, answers(self.unit.read(target, ended.output_bytes))

    def ask(self, queries: Iterable[tuple[int, int]], *, misalignment: int = 0) -> list[Answer]:
        """The answers to ranges, both ends of which are included, in one operation, which must end well."""
        data = encoded(queries)
        ended, found = self.run(data, len(data), misalignment=misalignment)
        if (ended.status, ended.input_offset) != ("ok", len(data)):
            raise ValueError(f"{ended} for {len(data)} bytes of queries")
        return found


def encoded(queries: Iterable[tuple[int, int]]) -> bytes:
    """Ranges as the unit reads them."""
    return b"".join(_QUERY.pack(low, high) for low, high in queries)


def answers(data: bytes) -> list[Answer]:
    """All whole answers in `data`."""
    return [Answer(*found) for found in _ANSWER.iter_unpack(data[: len(data) // 16 * 16])]
