"""From tiles to instructions."""

from __future__ import annotations

import itertools
from contextlib import ExitStack
from dataclasses import dataclass, field

from rackwright.drx.configuration import Configuration
from rackwright.drx.isa import isa
from rackwright.drx.kernel import row_major
from rackwright.drx.nest import Access, Number, Operation, Source
from rackwright.drx.program import Builder, Program
from rackwright.drx.stream import Layout
from rackwright.drx.tiling import COPIES, Tiling
from rackwright.drx.vector import Constant, Operand, Place, vector_loops
from rackwright.errors import RackwrightError

_OPERANDS = (0, 1, 2)
"""Calculators of destination, first and second operand."""

_BUFFER = 3
"""The calculator of the scratchpad's side of transfers."""

_MEMORY = 4
"""The first calculator of memory's side: one for each stream and copy of its buffer."""


def code_of(tilings: list[Tiling], configuration: Configuration) -> Program:
    """The program that computes all tiles of nests, one nest after the other.

    Raises `RackwrightError` when the unit has too few loops or too little instruction memory for it.
    """
    builder = Builder()
    for tiling in tilings:
        _Coder(tiling, builder, configuration.lanes).add_all()
    builder.add("end")
    length = len(builder.program.instructions)
    if length > configuration.instructions:
        raise RackwrightError(
            f"the program has {length:,} instructions, and the unit room for {configuration.instructions:,}"
        )
    if builder.deepest > configuration.loop_depth:
        raise RackwrightError(
            f"the program has {builder.deepest} loops within each other, and the unit "
            f"{configuration.loop_depth}"
        )
    return builder.program


@dataclass
class _Coder:
    """Adds the instructions of one nest to a program."""

    tiling: Tiling
    builder: Builder
    lanes: int
    layouts: list[Layout] = field(init=False)

    def __post_init__(self) -> None:
        self.layouts = [*(buffer.layout for buffer, _ in self.tiling.inputs), self.tiling.output.layout]

    @property
    def _streams(self) -> int:
        return len(self.layouts)

    def add_all(self) -> None:
        """All tiles: along one axis some move while another is computed, along several they take turns."""
        axes = [
            axis
            for axis, (extent, part) in enumerate(zip(self.tiling.nest.shape, self.tiling.tile, strict=True))
            if part < extent
        ]
        if len(axes) == 1 and _MEMORY + COPIES * self._streams <= isa().calculators:
            self._overlapped(axes[0])
        else:
            self._in_turn(axes)

    # Tiles in turn.

    def _in_turn(self, axes: list[int]) -> None:
        """Loops over tiles; those at an end that are not whole go back so far that they are."""
        if _MEMORY + self._streams > isa().calculators:
            raise RackwrightError(
                f"the kernel reads {self._streams - 1} arrays in different ways, which are too many"
            )
        choices = [self._parts(axis) for axis in axes]
        for parts in itertools.product(*choices):
            chosen = dict(zip(axes, parts, strict=True))
            loops = {axis: count for axis, (_, count) in chosen.items() if count > 1}
            levels = {axis: level for level, axis in enumerate(loops)}
            start = {axis: begin for axis, (begin, _) in chosen.items()}
            for place in range(self._streams):
                self._set_memory(place, 0, start, {axis: (level, 1) for axis, level in levels.items()})
            with ExitStack() as stack:
                for count in loops.values():
                    stack.enter_context(self.builder.loop(count))
                self._load(0)
                self.builder.add("wait_loads")
                self._compute(0)
                self._store(0)
                self.builder.add("wait_stores")

    def _parts(self, axis: int) -> list[tuple[int, int]]:
        """Where tiles along an axis begin, and how many follow one another there."""
        extent, part = self.tiling.nest.shape[axis], self.tiling.tile[axis]
        whole = [(0, extent // part)]
        return whole if extent % part == 0 else [*whole, (extent - part, 1)]

    # Tiles of which one is computed while others move.

    def _overlapped(self, axis: int) -> None:
        """Tile i is in copy i mod 2 of the buffers; while it is computed, tile i + 1 is loaded."""
        extent, part = self.tiling.nest.shape[axis], self.tiling.tile[axis]
        starts = [*range(0, extent - part + 1, part)]
        regular = len(starts)
        if extent % part:
            starts.append(extent - part)
        for place in range(self._streams - 1):
            self._set_memory(place, 0, {axis: 0}, {})
        self._load(0)
        pairs = (regular - 1) // COPIES
        if pairs:
            self._pairs(axis, pairs)
        for tile in range(COPIES * pairs, len(starts)):
            last = tile + 1 == len(starts)
            copy, other = tile % COPIES, (tile + 1) % COPIES
            if not last:
                for place in range(self._streams - 1):
                    self._set_memory(place, other, {axis: starts[tile + 1]}, {})
            self._set_memory(self._streams - 1, copy, {axis: starts[tile]}, {})
            self._step(copy, last=last)
        self.builder.add("wait_stores")

    def _pairs(self, axis: int, count: int) -> None:
        """A loop over two tiles at a time, each in copies of its own."""
        part = self.tiling.tile[axis]
        looped = {axis: (0, COPIES)} if count > 1 else {}
        for copy in range(COPIES):
            for place in range(self._streams - 1):
                ahead = copy or COPIES
                self._set_memory(place, copy, {axis: ahead * part}, looped)
            self._set_memory(self._streams - 1, copy, {axis: copy * part}, looped)
        with self.builder.loop(count):
            for copy in range(COPIES):
                self._step(copy, last=False)

    def _step(self, copy: int, *, last: bool) -> None:
        """Loads the next tile, and computes and stores the one that was loaded before."""
        ahead = 0
        if not last:
            self._load(1 - copy)
            ahead = sum(layout.transfers for layout in self.layouts[:-1])
        self.builder.add("wait_loads", count=ahead)
        # The buffer of the result is free when only the stores of the tile before are under way.
        self.builder.add("wait_stores", count=self.layouts[-1].transfers)
        self._compute(copy)
        self._store(copy)

    # Transfers.

    def _calculator(self, place: int, copy: int) -> int:
        return _MEMORY + copy * self._streams + place

    def _set_memory(
        self, place: int, copy: int, start: dict[int, int], loops: dict[int, tuple[int, int]]
    ) -> None:
        """Sets memory's side of a stream: for the tile at `start`; loops, by axis, have a level and step."""
        layout, calculator = self.layouts[place], self._calculator(place, copy)
        stream, tile = layout.stream, self.tiling.tile
        size = stream.element_bytes
        begin = sum(index * stream.strides[axis] for axis, index in start.items())
        self.builder.add("region", calculator=calculator, region=stream.region)
        self.builder.set("base", layout.memory + begin * size, calculator=calculator)
        for axis, (level, tiles) in loops.items():
            self._stride(calculator, level, tiles * tile[axis] * stream.strides[axis] * size)
        for level, rows in enumerate(layout.rows, len(loops)):
            self._stride(calculator, level, rows.memory_stride)

    def _stride(self, calculator: int, level: int, value: int) -> None:
        if value:
            self.builder.set("stride", value, calculator=calculator, level=level)

    def _load(self, copy: int) -> None:
        for place, (buffer, _) in enumerate(self.tiling.inputs):
            self._transfer("load", place, copy, buffer.places[copy])

    def _store(self, copy: int) -> None:
        self._transfer("store", self._streams - 1, copy, self.tiling.output.places[copy])

    def _transfer(self, name: str, place: int, copy: int, address: int) -> None:
        layout = self.layouts[place]
        self.builder.set("base", address, calculator=_BUFFER)
        rows = layout.rows
        for level, row in enumerate(rows, self.builder.depth):
            self._stride(_BUFFER, level, row.buffer_stride)
        with ExitStack() as stack:
            for row in rows:
                stack.enter_context(self.builder.loop(row.count))
            self.builder.add(name, scratchpad=_BUFFER, memory=self._calculator(place, copy), size=layout.size)

    # Computation.

    def _compute(self, copy: int) -> None:
        last = len(self.tiling.nest.operations) - 1
        for place, operation in enumerate(self.tiling.nest.operations):
            address = self.tiling.output.places[copy] if place == last else self.tiling.temporaries[place]
            destination = self._dense(address, operation)
            sources = [self._operand(source, copy) for source in operation.sources]
            if operation.function == "select":
                condition, chosen, other = sources
                self._vector("move", destination, [other])
                self._vector("select", destination, [condition, chosen])
            else:
                self._vector(operation.function, destination, sources)

    def _dense(self, address: int, operation: Operation) -> Place:
        """A result in row-major order."""
        size = operation.element.bytes
        strides = tuple(step * size for step in row_major(self.tiling.tile))
        return Place(address, operation.element.stored, size, strides)

    def _operand(self, source: Source, copy: int) -> Operand:
        if isinstance(source, Number):
            return Constant(source.value)
        if isinstance(source, Access):
            buffer, first = self.tiling.buffer(source)
            place = buffer.places[copy] + first
            return Place(place, source.element.stored, source.element.bytes, buffer.layout.strides)
        return self._dense(
            self.tiling.temporaries[source.operation], self.tiling.nest.operations[source.operation]
        )

    def _vector(self, function: str, destination: Place, sources: list[Operand]) -> None:
        plan = vector_loops(self.tiling.tile, [destination, *sources], self.lanes)
        for calculator, operand in zip(_OPERANDS, plan.operands, strict=False):
            self._set_operand(calculator, operand, plan.loops)
        self.builder.add("length", value=plan.length)
        with ExitStack() as stack:
            for count in plan.loops:
                stack.enter_context(self.builder.loop(count))
            fields = dict(zip(("destination", "first", "second"), _OPERANDS, strict=True))
            self.builder.add(function, **dict(list(fields.items())[: len(plan.operands)]))

    def _set_operand(self, calculator: int, operand: Operand, loops: tuple[int, ...]) -> None:
        types = isa().types
        if isinstance(operand, Constant):
            self.builder.set("base", operand.bits, calculator=calculator)
            self.builder.set("format", 0, calculator=calculator, type=types["constant"])
            return
        self.builder.set("base", operand.address, calculator=calculator)
        self.builder.set("format", operand.strides[-1], calculator=calculator, type=types[operand.element])
        for level, stride in enumerate(operand.strides[: len(loops)], self.builder.depth):
            self._stride(calculator, level, stride)
