"""Cuts a design into pieces that are mapped each on its own.

A mapper's time grows faster than its input, and the same modules occur in several units, or several times in
one. A piece is a module with the small modules in it; larger ones are pieces of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rackwright.synthesis.verilog import Module

LIMIT = 38_000
"""Signal bits up to which modules are mapped together.

With a smaller size, units have more pieces in common, but the mapper does not see that a path continues in
another piece.
"""

LARGE_TEXT = 100_000
"""Minimum number of characters of a module that is a piece of its own: it takes a minute, and several units
contain it.
"""


@dataclass(frozen=True)
class Piece:
    """The module `root`, the modules mapped with it (`inside`), and the boxes (`outside`)."""

    root: Module
    inside: tuple[Module, ...]
    outside: tuple[Module, ...]

    @property
    def text(self) -> str:
        """The Verilog of all that is mapped."""
        return "\n\n".join(module.text for module in (self.root, *self.inside))

    @property
    def stubs(self) -> str:
        """The boxes."""
        return "\n".join(module.stub for module in self.outside)


def cut(
    modules: Mapping[str, Module],
    top: str,
    boxes: frozenset[str],
    alone: frozenset[str] = frozenset(),
    limit: int = LIMIT,
) -> list[Piece]:
    """The pieces of the design `top`, each once.

    `boxes` are modules that are not mapped, `alone` those that are pieces of their own at any size.
    """
    large = {name for name, module in modules.items() if len(module.text) > LARGE_TEXT}
    return _Cutter(modules, boxes, alone | large, limit).pieces(top)


class _Cutter:
    def __init__(
        self, modules: Mapping[str, Module], boxes: frozenset[str], alone: frozenset[str], limit: int
    ) -> None:
        self._modules = modules
        self._boxes = boxes
        self._apart = boxes | alone
        self._limit = limit
        self._weights: dict[str, int] = {}

    def pieces(self, top: str) -> list[Piece]:
        """Pieces from the top down: the modules that a piece leaves out become further pieces."""
        done: dict[str, Piece] = {}
        wanted = [top]
        while wanted:
            name = wanted.pop()
            if name not in done:
                done[name] = self._piece(name)
                wanted += [module.name for module in done[name].outside if module.name not in self._boxes]
        return list(done.values())

    def _piece(self, name: str) -> Piece:
        inside: set[str] = set()
        outside: set[str] = set()
        self._take(name, self._limit - self._modules[name].signal_bits, inside, outside)
        inside -= outside | {name}
        find = self._modules.__getitem__
        return Piece(find(name), tuple(map(find, sorted(inside))), tuple(map(find, sorted(outside))))

    def _take(self, name: str, room: int, inside: set[str], outside: set[str]) -> int:
        """Adds the children of `name`, smallest first, while there is room; returns the others."""
        children = self._modules[name].children
        known = [child for child in children if child in self._modules]
        for child in sorted(known, key=lambda child: (self._weight(child), child)):
            weight = self._weight(child) * children[child]
            if child in self._apart or child in outside or weight > room:
                outside.add(child)
                continue
            inside.add(child)
            room -= weight
            self._take(child, weight, inside, outside)
        return room

    def _weight(self, name: str) -> int:
        """Signal bits of a module with all modules below it, except those mapped separately."""
        if name in self._apart or name not in self._modules:
            return 0
        if name not in self._weights:
            module = self._modules[name]
            below = sum(count * self._weight(child) for child, count in module.children.items())
            self._weights[name] = module.signal_bits + below
        return self._weights[name]
