"""The order of tiles along axes, and of the operations of a tile."""

from __future__ import annotations

from dataclasses import dataclass

from rackwright.drx.nest import Nest
from rackwright.drx.tile import Tile


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


@dataclass(frozen=True)
class Phases:
    """The operations of a nest in the order in which they are computed, which their lifetimes follow.

    Those in `once` are computed for the first tile along the innermost axis, those in `each` for each tile,
    and those in `after` afterwards, or strip by strip of the tile.
    """

    once: tuple[int, ...]
    each: tuple[int, ...]
    after: tuple[int, ...]

    @property
    def every(self) -> tuple[int, ...]:
        """All of them; the last one computes the result of the nest."""
        return (*self.once, *self.each, *self.after)


def phases_of(nest: Nest, tile: Tile, strip: int) -> Phases:
    """Those of a tile, with so many indices in a strip along its first axis."""
    order = order_of(nest, tile.stored)
    together = order.inner is not None and order.inner >= nest.kept
    after = nest.late if together or strip < tile.extents[0] else frozenset()
    each = (place for place in range(len(nest.operations)) if place not in order.once | after)
    return Phases(tuple(sorted(order.once)), tuple(each), tuple(sorted(after)))
