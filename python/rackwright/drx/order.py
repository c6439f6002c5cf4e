"""The order of tiles: which axis is innermost, and what is the same for all tiles along it."""

from __future__ import annotations

from dataclasses import dataclass

from rackwright.drx.nest import Nest


@dataclass(frozen=True)
class Order:
    """The axes that are cut into tiles, the outermost first.

    Operations in `once` do not depend on where a tile is along the last of these axes: they are computed
    for its first one alone.
    """

    axes: tuple[int, ...]
    once: frozenset[int]

    @property
    def inner(self) -> int | None:
        """The axis whose tiles follow one another; None where there is one tile."""
        return self.axes[-1] if self.axes else None


def order_of(nest: Nest, tile: tuple[int, ...]) -> Order:
    """The order in which most operations are computed once for several tiles; in that of the axes otherwise.

    What is taken together is along the last axes, which stay innermost.
    """
    cut = [axis for axis, (part, extent) in enumerate(zip(tile, nest.shape, strict=True)) if part < extent]
    if not cut or nest.kept < len(nest.shape):
        return Order(tuple(cut), frozenset())
    inner = max(reversed(cut), key=lambda axis: len(nest.unchanged[axis]))
    return Order((*(axis for axis in cut if axis != inner), inner), nest.unchanged[inner])
