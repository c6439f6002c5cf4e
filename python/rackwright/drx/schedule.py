"""The tiles of a nest in order: loops, transfers, and overlapped computation."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property

from rackwright.drx.calculators import OperandCalculators
from rackwright.drx.costs import COPIES
from rackwright.drx.isa import isa
from rackwright.drx.operations import Buffers, Operations
from rackwright.drx.order import Order, Phases, order_of, phases_of
from rackwright.drx.program import Builder
from rackwright.drx.stream import Layout
from rackwright.drx.tiling import Tiling
from rackwright.errors import RackwrightError

_OPERANDS = 3
"""Minimum number of calculators reserved for operands."""

_BUFFER = _OPERANDS
"""The calculator of the scratchpad's side of transfers."""

_MEMORY = _BUFFER + 1
"""The first calculator of memory's side."""


class _TooManyCalculatorsError(RackwrightError):
    """A schedule needs more calculators than there are."""


@dataclass
class _Body:
    """The body of the loops over tiles, except those of the innermost axis.

    Calculators of the memory side are set before these loops, if there are any, and have one purpose each.
    Otherwise they are set where they are used.
    """

    start: dict[int, int]
    levels: dict[int, int]
    before: Builder
    builder: Builder
    calculators: dict[tuple[object, ...], int] = field(default_factory=dict)


@dataclass
class Schedule:
    """Of one nest. Tiles along the innermost tiled axis are loaded while the previous one is computed."""

    tiling: Tiling
    lanes: int
    _used: int = _MEMORY
    _free: list[int] = field(default_factory=lambda: list(range(_OPERANDS)))

    @cached_property
    def _operations(self) -> Operations:
        return Operations(self.tiling, self.lanes)

    @cached_property
    def _layouts(self) -> list[Layout]:
        return [*(buffer.layout for buffer, _ in self.tiling.inputs), self.tiling.output.layout]

    @property
    def _streams(self) -> int:
        return len(self._layouts)

    @cached_property
    def _order(self) -> Order:
        return order_of(self.tiling.nest, self.tiling.tile.stored)

    @cached_property
    def _phases(self) -> Phases:
        return phases_of(self.tiling.nest, self.tiling.tile, self.tiling.strip)

    @cached_property
    def _shared(self) -> list[int]:
        """Streams common to all tiles along the innermost axis, in addition to operations computed once."""
        inner = self._order.inner
        inputs = enumerate(buffer.layout.stream for buffer, _ in self.tiling.inputs)
        return [place for place, each in inputs if self._order.once and not each.strides[inner or 0]]

    @cached_property
    def _own(self) -> list[int]:
        """Streams of which each tile has a separate part."""
        return [place for place in range(len(self.tiling.inputs)) if place not in self._shared]

    def add_to(self, builder: Builder) -> None:
        """Adds the instructions of all tiles."""
        try:
            tiles = self._whole(overlap=True)
        except _TooManyCalculatorsError:
            tiles = self._whole(overlap=False)
        builder.append(tiles)
        if self.tiling.nest.late:
            builder.add("wait_stores")

    def _whole(self, *, overlap: bool) -> Builder:
        """All tiles. Operands also have the calculators that the memory side does not need."""
        self._add(Builder(), overlap=overlap)
        self._free = [*range(_OPERANDS), *range(self._used, isa().calculators)]
        tiles = Builder()
        self._add(tiles, overlap=overlap)
        return tiles

    def _add(self, builder: Builder, *, overlap: bool) -> None:
        axes = list(self._order.axes)
        inner = axes.pop() if axes and (overlap or not self._stores(axes[-1])) else None
        choices = [self._parts(axis) for axis in axes]
        for parts in itertools.product(*choices):
            chosen = dict(zip(axes, parts, strict=True))
            loops = {axis: count for axis, (_, count) in chosen.items() if count > 1}
            levels = {axis: level for level, axis in enumerate(loops)}
            start = {axis: begin for axis, (begin, _) in chosen.items()}
            within = Builder(len(loops))
            body = _Body(start, levels, builder if loops else within, within)
            self._body(body, inner, overlap=overlap)
            with ExitStack() as stack:
                for count in loops.values():
                    stack.enter_context(builder.loop(count))
                builder.append(within)

    def _parts(self, axis: int) -> list[tuple[int, int]]:
        """Starting positions of tiles along an axis, and the number of consecutive ones.

        An incomplete last tile is moved back until it is complete.
        """
        extent, part = self.tiling.nest.shape[axis], self.tiling.tile.stored[axis]
        whole = [(0, extent // part)]
        return whole if extent % part == 0 else [*whole, (extent - part, 1)]

    # The tiles along the innermost axis.

    def _body(self, body: _Body, axis: int | None, *, overlap: bool) -> None:
        if axis is None:
            for part in range(self.tiling.tile.parts):
                start = self._start(self.tiling.tile.across, 0, part)
                self._load(body, [*self._shared, *self._own], 0, start)
                body.builder.add("wait_loads")
                self._compute(body, Buffers(part=part), self._phases.every, begins=True)
            self._store(body, 0, {})
            body.builder.add("wait_stores")
        elif axis < self.tiling.nest.kept:
            self._overlapped(body, axis, (*self._phases.each, *self._phases.after))
        else:
            self._together(body, axis, overlap=overlap)

    def _together(self, body: _Body, axis: int, *, overlap: bool) -> None:
        """Tiles whose elements are taken together, and then the result."""
        self._operations.begin(body.builder, OperandCalculators(self._free))
        self._tiles(body, axis, self._phases.each, overlap=overlap)
        body.builder.add("wait_stores")
        self._compute(body, Buffers(), self._phases.after, begins=False)
        self._store(body, 0, {})

    def _tiles(self, body: _Body, axis: int, places: Sequence[int], *, overlap: bool) -> None:
        """Tiles that each have a part of a reduction."""
        if overlap:
            self._overlapped(body, axis, places)
            return
        (begin, count), step = self._parts(axis)[0], (axis, len(body.levels), 1)
        for place in self._own:
            self._pointer(body, place, 0, {axis: begin}, step)
        with body.builder.loop(count):
            self._load(body, self._own, 0, {axis: begin}, step)
            body.builder.add("wait_loads")
            self._compute(body, Buffers(), places, begins=False)

    def _stores(self, axis: int) -> bool:
        """Each tile along the axis has results of its own."""
        return axis < self.tiling.nest.kept

    def _overlapped(self, body: _Body, axis: int, places: Sequence[int]) -> None:
        """Tile i is in copy i mod 2 of the buffers; while it is computed, tile i + 1 is loaded.

        Tiles that are stored together are in one copy of the result's.
        """
        extent, part = self.tiling.nest.shape[axis], self.tiling.tile.stored[axis]
        starts = [*range(0, extent - part + 1, part)]
        pairs = (len(starts) - 1) // COPIES
        if extent % part:
            starts.append(extent - part)
        self._load(body, self._shared, 0, {axis: 0})
        self._load(body, self._own, 0, {axis: 0})
        if self._order.once:
            body.builder.add("wait_loads", count=self._ahead)
            self._compute(body, Buffers(), self._phases.once, begins=False)
        if pairs:
            self._pairs(body, axis, pairs, places)
        parts = self.tiling.tile.parts
        tiles = [self._start(axis, start, part) for start in starts for part in range(parts)]
        for tile in range(parts * COPIES * pairs, len(tiles)):
            following = tiles[tile + 1] if tile + 1 < len(tiles) else None
            self._step(body, axis, tile, starts[tile // parts], following, places)
        if self._stores(axis):
            body.builder.add("wait_stores")

    def _start(self, axis: int, index: int, part: int) -> dict[int, int]:
        """Indices of a tile, by its number among those stored together from an index along `axis` on."""
        across, start = self.tiling.tile.across, {axis: index}
        if part:
            start[across] = start.get(across, 0) + self.tiling.tile.part(part)
        return start

    def _pairs(self, body: _Body, axis: int, count: int, places: Sequence[int]) -> None:
        """A loop over tiles for both copies of the result, each in copies of its own."""
        stored, parts = self.tiling.tile.stored[axis], self.tiling.tile.parts
        step = (axis, len(body.levels), COPIES) if count > 1 else None
        every = range(COPIES * parts)
        following = [self._start(axis, (tile + 1) // parts * stored, (tile + 1) % parts) for tile in every]
        for copy in range(COPIES):
            for slot in range(copy * parts, (copy + 1) * parts):
                for place in self._own:
                    # The one before the first tile loads the first of the next iteration.
                    self._pointer(body, place, slot, following[slot - 1], step)
            if self._stores(axis):
                self._pointer(body, self._streams - 1, copy, {axis: copy * stored}, step)
        with body.builder.loop(count):
            for tile in every:
                self._step(body, axis, tile, tile // parts * stored, following[tile], places, step)

    def _slot(self, tile: int) -> int:
        """The number of a tile's pointer among those to a stream that are used at the same time."""
        return tile % (COPIES * self.tiling.tile.parts)

    def _step(
        self,
        body: _Body,
        axis: int,
        tile: int,
        index: int,
        following: dict[int, int] | None,
        places: Sequence[int],
        step: tuple[int, int, int] | None = None,
    ) -> None:
        """Loads the tile after that of a number, and computes the one that was loaded before.

        Those that are stored together, from an index on, are stored after the last of them.
        """
        parts, ahead = self.tiling.tile.parts, 0
        buffers = Buffers(tile % COPIES, tile // parts % COPIES, tile % parts)
        if following is not None:
            self._load(body, self._own, tile + 1, following, step)
            ahead = self._ahead
        body.builder.add("wait_loads", count=ahead)
        if self._stores(axis) and buffers.part == 0:
            # The buffer of the result is free when only the stores from the other one are outstanding.
            body.builder.add("wait_stores", count=self._layouts[-1].transfers)
        self._compute(body, buffers, places, begins=self._stores(axis))
        if self._stores(axis) and buffers.part == parts - 1:
            self._store(body, buffers.stored, {axis: index}, step)

    def _compute(self, body: _Body, buffers: Buffers, places: Sequence[int], *, begins: bool) -> None:
        calculators = OperandCalculators(self._free)
        if begins:
            self._operations.begin(body.builder, calculators)
        self._operations.add(body.builder, calculators, places, buffers)

    # Transfers.

    def _pointer(
        self,
        body: _Body,
        place: int,
        slot: int,
        start: dict[int, int],
        step: tuple[int, int, int] | None = None,
    ) -> int:
        """The calculator of memory's side of a stream, for the tile at `start`.

        It is set unless it is already set. Those in different slots are used at the same time. `step` is an
        axis, the level of its loop, and the tiles from one iteration to the next.
        """
        key = (place, slot, tuple(start.items()), step)
        if key in body.calculators:
            return body.calculators[key]
        if body.levels:
            calculator = _MEMORY + len(body.calculators)
        else:
            calculator = _MEMORY + slot * self._streams + place
            body.calculators = {own: used for own, used in body.calculators.items() if used != calculator}
        if calculator >= isa().calculators:
            raise _TooManyCalculatorsError(
                f"the kernel reads {self._streams - 1} arrays in different ways, which are too many"
            )
        body.calculators[key] = calculator
        self._used = max(self._used, calculator + 1)
        layout, stored = self._layouts[place], self.tiling.tile.stored
        stream, builder = layout.stream, body.before
        size = stream.element_bytes
        indices = itertools.chain(body.start.items(), start.items())
        begin = sum(index * stream.strides[axis] for axis, index in indices)
        builder.add("region", calculator=calculator, region=stream.region)
        builder.set("base", layout.memory + begin * size, calculator=calculator)
        for axis, level in body.levels.items():
            builder.stride(calculator, level, stored[axis] * stream.strides[axis] * size)
        level = len(body.levels)
        if step is not None:
            axis, level, tiles = step
            builder.stride(calculator, level, tiles * stored[axis] * stream.strides[axis] * size)
            level += 1
        for row in layout.rows:
            builder.stride(calculator, level, row.memory_stride)
            level += 1
        return calculator

    @property
    def _ahead(self) -> int:
        """Transfers of a tile of its own."""
        return sum(self._layouts[place].transfers for place in self._own)

    def _load(
        self,
        body: _Body,
        streams: list[int],
        tile: int,
        start: dict[int, int],
        step: tuple[int, int, int] | None = None,
    ) -> None:
        for place in streams:
            buffer, _ = self.tiling.inputs[place]
            calculator = self._pointer(body, place, self._slot(tile), start, step)
            self._transfer(body.builder, "load", place, calculator, buffer.places[tile % COPIES])

    def _store(
        self, body: _Body, copy: int, start: dict[int, int], step: tuple[int, int, int] | None = None
    ) -> None:
        calculator = self._pointer(body, self._streams - 1, copy, start, step)
        self._transfer(body.builder, "store", self._streams - 1, calculator, self.tiling.output.places[copy])

    def _transfer(self, builder: Builder, name: str, place: int, calculator: int, address: int) -> None:
        layout = self._layouts[place]
        builder.set("base", address, calculator=_BUFFER)
        for level, row in enumerate(layout.rows, builder.depth):
            builder.stride(_BUFFER, level, row.buffer_stride)
        with ExitStack() as stack:
            for row in layout.rows:
                stack.enter_context(builder.loop(row.count))
            builder.add(name, scratchpad=_BUFFER, memory=calculator, size=layout.size)
