"""The order of tiles: the innermost axis, and the operations common to all tiles along it."""

from __future__ import annotations

from dataclasses import dataclass

from rackwright.drx.nest import Nest


@dataclass(frozen=True)
class Order:
    """The tiled axes, the outermost first.

    Operations in `once` do not depend on the position along the last of these axes: they are computed only
    for the first tile.
    """

    axes: tuple[int, ...]
    once: frozenset[int]

    @property
    def inner(self) -> int | None:
        """The axis of consecutive tiles; None if there is one tile."""
        return self.axes[-1] if self.axes else None


def order_of(nest: Nest, tile: tuple[int, ...]) -> Order:
    """The order in which most operations are computed once for several tiles; in that of the axes otherwise.

    Reduced axes are the last ones, and stay innermost.
    """
    cut = [axis for axis, (part, extent) in enumerate(zip(tile, nest.shape, strict=True)) if part < extent]
    if not cut or nest.kept < len(nest.shape):
        return Order(tuple(cut), frozenset())
    inner = max(reversed(cut), key=lambda axis: len(nest.unchanged[axis]))
    return Order((*(axis for axis in cut if axis != inner), inner), nest.unchanged[inner])
