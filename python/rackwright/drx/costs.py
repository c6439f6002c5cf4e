"""Costs of tiles: space in the scratchpad, and cycles."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache

from rackwright.drx.configuration import Configuration
from rackwright.drx.isa import isa
from rackwright.drx.nest import Nest, Operation
from rackwright.drx.order import order_of
from rackwright.drx.stream import Layout, Stream, loaded, stored, streams_of
from rackwright.drx.temporaries import Temporaries, lines
from rackwright.drx.tile import Tile

COPIES = 2
"""Double buffers for loads and stores: one is used by computation while the other one is transferred."""

STRIPS = (1, 2, 3, 4, 6, 8)
"""Parts of a tile along its first axis, which may be computed one after the other."""

TOGETHER = 3
"""The most parts of streams that have a pointer each while tiles that are stored together are loaded."""

_LINE = 64
"""Bytes that memory moves at once."""

_BYTES_PER_CYCLE = 25.6
"""Of DDR4-3200 at 1 GHz."""

_LEAST = 2
"""Cycles of a transfer at least."""

_TILE = 50
"""Cycles of a tile in addition to those of its operations and transfers."""


class Costs:
    """Of the tiles of one nest."""

    def __init__(self, nest: Nest, configuration: Configuration) -> None:
        self.nest = nest
        self.configuration = configuration
        self.streams = streams_of(nest)
        functions = isa().functions
        self._limits = {
            name: next(each for each in functions[function].fields if each.name == name_of).range.stop
            for name, function, name_of in (
                ("bytes", "load", "size"),
                ("elements", "length", "value"),
                ("transfers", "wait_loads", "count"),
            )
        }
        # Many tiles have parts of a stream in common, and the layouts of a tile are asked for several times.
        self._loaded = cache(loaded)
        self.layouts = cache(self._layouts)

    def _layouts(self, tile: Tile) -> tuple[list[Layout], Layout]:
        """Of the buffers of the streams, and of the result."""
        kept = self.nest.kept
        result = Stream(0, self.nest.element.bytes, self.nest.offset, 0, self.nest.strides)
        own = (*tile.stored[:kept], *(1 for _ in tile.stored[kept:]))
        return [self._input(stream, tile) for stream, _ in self.streams], stored(result, own)

    def _input(self, stream: Stream, tile: Tile) -> Layout:
        """That of a stream, which does not depend on the extents along axes where it has the same element."""
        extents, room = (
            tuple(extent if step else 1 for extent, step in zip(each, stream.strides, strict=True))
            for each in (tile.extents, tile.room)
        )
        return self._loaded(stream, extents, room)

    def tiles(self, extents: tuple[int, ...]) -> Iterator[Tile]:
        """Tiles of these extents: each stored on its own, or with neighbours in longer rows.

        There are none if too many loops, or too long vectors, would be needed.
        """
        room = tuple(self._room(axis, extent) for axis, extent in enumerate(extents))
        cut = [axis for axis in range(self.nest.kept) if extents[axis] < self.nest.shape[axis]]
        every = range(1, TOGETHER // max(len(self.streams), 1) + 1) if cut and self._is_plain else (1,)
        for parts in every:
            stored = tuple(
                extent * parts if cut and axis == cut[-1] else extent for axis, extent in enumerate(extents)
            )
            tile = Tile(extents, stored, room)
            if (parts == 1 or self._is_divided(tile)) and self._is_expressible(tile):
                yield tile

    @property
    def _is_plain(self) -> bool:
        """All operations are computed for all elements of the result."""
        return self.nest.kept == len(self.nest.shape) and not any(self.nest.unchanged)

    def _is_divided(self, tile: Tile) -> bool:
        """Several tiles are stored together, and there are others after them."""
        pairs = list(zip(tile.stored, self.nest.shape, strict=True))
        return all(own <= whole for own, whole in pairs) and any(own < whole for own, whole in pairs)

    def _room(self, axis: int, extent: int) -> int:
        """The extent of a tile in the scratchpad: elements at this distance are read together."""
        size = self.nest.turned.get(axis)
        if size is None or extent == 1:
            return extent
        table = isa()
        wider = (each for each in table.strides if each >= extent and each * size <= table.stride_bytes)
        return min(wider, default=extent)

    def extents(self, axis: int) -> list[int]:
        """The possible extents of a tile along an axis.

        Reduced axes must be in complete tiles, so that no element occurs twice.
        """
        extent = self.nest.shape[axis]
        if axis >= self.nest.kept:
            whole = range(1, extent + 1) if self.nest.is_divisible(axis) else [extent]
            return [each for each in whole if extent % each == 0]
        found = {math.ceil(extent / parts) for parts in self._parts(extent)}
        # With rows of this number of elements, those of a column are read together. So they are with fewer
        # elements and some room: as many tiles have equal parts then.
        found |= {each for each in isa().strides if each < extent}
        if axis in self.nest.turned:
            found |= {math.ceil(extent / math.ceil(extent / each)) for each in isa().strides}
        line = self.configuration.line_bytes
        if len(self.nest.shape) == 1:
            # The next tile begins with a line, too.
            found = {each if each < line or each == extent else each // line * line for each in found}
        return sorted(found)

    def _parts(self, extent: int) -> list[int]:
        return [1 << power for power in range(extent.bit_length() + 1)]

    def _is_expressible(self, tile: Tile) -> bool:
        extents, shape = tile.extents, self.nest.shape
        cut = sum(part < extent for part, extent in zip(extents, shape, strict=True))
        together = [axis for axis in range(self.nest.kept, len(shape)) if extents[axis] < shape[axis]]
        if len(together) > 1 or cut > self.configuration.loop_depth:
            return False
        elements = (self._elements(operation, tile.room) for operation in self.nest.operations)
        return max(elements) < self._limits["elements"]

    def fits(self, tile: Tile) -> bool:
        """There is room for all buffers, and for their sizes in instructions."""
        inputs, output = self.layouts(tile)
        layouts = [*inputs, output]
        return (
            all(layout.size < self._limits["bytes"] for layout in layouts)
            and sum(layout.transfers for layout in layouts) < self._limits["transfers"]
            and self.strip(tile) is not None
        )

    def strip(self, tile: Tile) -> int | None:
        """Indices along the first axis for which operations after reductions are computed at a time.

        There are as many as fit; None if none fits.
        """
        inputs, output = self.layouts(tile)
        if sum(self._moving(tile, [*inputs, output])) > self.configuration.scratchpad_bytes:
            return None
        late = [self.nest.operations[place] for place in self.nest.late]
        divisible = self.nest.kept > 0 and bool(late) and not any(each.reduced for each in late)
        parts = STRIPS if divisible else STRIPS[:1]
        first = tile.extents[0]
        for strip in (first // part for part in parts if first % part == 0):
            if self._bytes(tile, [*inputs, output], strip) <= self.configuration.scratchpad_bytes:
                return strip
        return None

    def _bytes(self, tile: Tile, layouts: list[Layout], strip: int) -> int:
        moved = self._moving(tile, layouts)
        return self.temporaries(tile, strip, sum(moved[:-1])).placed(sum(moved))[1]

    def _moving(self, tile: Tile, layouts: list[Layout]) -> list[int]:
        """Bytes of the buffers of each layout."""
        line, copies = self.configuration.line_bytes, [*self.copies(tile), self.results(tile)]
        return [count * lines(layout.bytes, line) for count, layout in zip(copies, layouts, strict=True)]

    def temporaries(self, tile: Tile, strip: int, inputs: int) -> Temporaries:
        """Those of a tile whose buffers of inputs take so many bytes.

        Where no tile is loaded while others are after their reductions, those bytes are free at that time.
        """
        spare = inputs if self.results(tile) == 1 else 0
        return Temporaries(self.nest, tile, self.configuration.line_bytes, strip, spare)

    def copies(self, tile: Tile) -> list[int]:
        """Buffers of each stream: one for data common to all tiles along the innermost axis."""
        return [1 if same else COPIES for same in self._same(tile)]

    def results(self, tile: Tile) -> int:
        """Buffers of the result: one if no tile is computed while the one before is stored."""
        inner = order_of(self.nest, tile.stored).inner
        return COPIES if inner is not None and inner < self.nest.kept else 1

    def _same(self, tile: Tile) -> list[bool]:
        order = order_of(self.nest, tile.stored)
        return [bool(order.once) and not stream.strides[order.axes[-1]] for stream, _ in self.streams]

    @staticmethod
    def _elements(operation: Operation, extents: tuple[int, ...]) -> int:
        return math.prod(extents[axis] for axis in operation.domain)

    def cycles(self, tile: Tile, early: int, late: int, once: int = 0) -> float:
        """An estimate for the complete nest: transfers overlap with operations.

        `early` are the cycles of the operations of a tile, `late` of those after all reductions, `once` of
        those before the tiles along the innermost axis.
        """
        every, results = self._tiles(tile)
        moved = self._transfers(tile)
        computed = every * early + results * late + self._rounds(tile) * once
        return max(moved, computed) + min(moved, computed) / max(every, 2) + _TILE * every

    def least(self, tile: Tile) -> float:
        """A lower bound of `cycles`."""
        return self._transfers(tile) + _TILE * self._tiles(tile)[0]

    def _tiles(self, tile: Tile) -> tuple[int, int]:
        """Their number, and the number of those that are stored on their own."""
        parts = [math.ceil(extent / part) for extent, part in zip(self.nest.shape, tile.stored, strict=True)]
        return math.prod(parts) * tile.parts, math.prod(parts[: self.nest.kept])

    def _rounds(self, tile: Tile) -> int:
        """The number of passes through the tiles along the innermost axis."""
        inner = order_of(self.nest, tile.stored).inner
        every, _ = self._tiles(tile)
        if inner is None:
            return every
        return every // (math.ceil(self.nest.shape[inner] / tile.stored[inner]) * tile.parts)

    def _transfers(self, tile: Tile) -> float:
        every, results = self._tiles(tile)
        inputs, output = self.layouts(tile)
        rounds = self._rounds(tile)
        loaded = zip(self._same(tile), inputs, strict=True)
        read = sum((rounds if same else every) * self._moved(layout, tile.extents) for same, layout in loaded)
        return read + results * self._moved(output, tile.stored)

    def _moved(self, layout: Layout, extents: tuple[int, ...]) -> float:
        """Cycles of the transfers of a tile: each moves whole lines, and may begin and end within one."""
        stream = layout.stream
        steps = zip(stream.strides, extents, strict=True)
        tiles = (step * part * stream.element_bytes for step, part in steps)
        aligned = math.gcd(_LINE, layout.memory, *tiles, *(row.memory_stride for row in layout.rows))
        moved = max(layout.size - aligned + _LINE, math.ceil(layout.size / _LINE) * _LINE)
        return layout.transfers * max(moved / _BYTES_PER_CYCLE, _LEAST)
