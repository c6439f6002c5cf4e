"""The operations of a tile, as vector instructions."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from rackwright.drx.calculators import OperandCalculators
from rackwright.drx.element import Element
from rackwright.drx.interleaving import VectorInstruction, interleaved
from rackwright.drx.kernel import row_major
from rackwright.drx.nest import Access, Number, Result, Source
from rackwright.drx.program import Builder
from rackwright.drx.temporaries import stripped
from rackwright.drx.tiling import Tiling
from rackwright.drx.vector import Constant, Operand, Place, VectorLoops, vector_loops

_LATENCY = 8
_STALL = 4
"""Minimum cycles of an operation, as independent ones overlap, and lost cycles."""

_FIELDS = ("destination", "first", "second")


@dataclass(frozen=True)
class Buffers:
    """The buffers of a tile: copies of those of inputs and of the result, and its number in the latter."""

    loaded: int = 0
    stored: int = 0
    part: int = 0


@dataclass(frozen=True)
class Operations:
    """Adds operations to programs, for any buffers."""

    tiling: Tiling
    lanes: int

    def begin(self, builder: Builder, calculators: OperandCalculators) -> None:
        """Reductions start with the neutral element."""
        for place, operation in enumerate(self.tiling.nest.operations):
            if operation.reduced:
                nothing = Constant(nothing_of(operation.function, operation.element))
                plan = self._plan(place, [self._result(place, Buffers()), nothing], ())
                self._vector(builder, calculators, "move", plan)

    def add(
        self, builder: Builder, calculators: OperandCalculators, places: Iterable[int], buffers: Buffers
    ) -> None:
        """Operations by their numbers, over the tile in these buffers; the last of them in strips."""
        tiling = self.tiling
        whole = tiling.tile.extents[0]
        if tiling.strip == whole:
            self._add(builder, calculators, places, buffers, 0)
            return
        chosen = list(places)
        early = [each for each in chosen if each not in tiling.nest.late]
        self._add(builder, calculators, early, buffers, 0)
        late = [each for each in chosen if each in tiling.nest.late]
        for begin in range(0, whole, tiling.strip):
            self._add(builder, calculators, late, buffers, begin)

    def _add(
        self,
        builder: Builder,
        calculators: OperandCalculators,
        places: Iterable[int],
        buffers: Buffers,
        begin: int,
    ) -> None:
        instructions = [
            VectorInstruction(function, self._plan(place, operands, reduced))
            for place in places
            for function, operands, reduced in self._instructions(place, buffers, begin)
        ]
        for each in interleaved(instructions):
            self._vector(builder, calculators, each.function, each.plan)

    def cycles(self, places: Iterable[int]) -> int:
        """Cycles of the operations of a tile, each of which waits for the results of the previous one."""
        strips = self.tiling.tile.extents[0] // self.tiling.strip
        return sum(
            (max(self._plan(place, operands, reduced).cycles, _LATENCY) + _STALL)
            * (strips if place in self.tiling.nest.late else 1)
            for place in places
            for _, operands, reduced in self._instructions(place, Buffers(), 0)
        )

    def _instructions(
        self, place: int, buffers: Buffers, begin: int
    ) -> list[tuple[str, list[Operand], tuple[int, ...]]]:
        """The vector instructions of an operation: functions, operands, and axes taken together.

        `begin` is the first index along the first axis.
        """
        operation = self.tiling.nest.operations[place]
        function, reduced = operation.function, operation.reduced
        destination = self._result(place, buffers, begin)
        sources = [self._operand(source, buffers, begin) for source in operation.sources]
        if function == "select":
            condition, chosen, other = sources
            return [("move", [destination, other], ()), (function, [destination, condition, chosen], ())]
        if function == "multiply_add" and not reduced:
            first, second, added = sources
            return [("move", [destination, added], ()), (function, [destination, first, second], ())]
        if reduced and function != "multiply_add":
            sources.insert(0, destination)
        return [(function, [destination, *sources], reduced)]

    def _result(self, place: int, buffers: Buffers, begin: int = 0) -> Place:
        """The output of an operation, in the order of its axes.

        Temporaries of strips have one address for all strips.
        """
        tiling, tile = self.tiling, self.tiling.tile
        operation = tiling.nest.operations[place]
        whole = place == self._last or place not in tiling.nest.late
        size = operation.element.bytes
        extents = tile.stored if place == self._last else self._extents(place)
        order = tiling.nest.orders[place]
        strides = [0] * len(extents)
        for axis, step in zip(order, row_major(tuple(extents[axis] for axis in order)), strict=True):
            strides[axis] = step * size
        if place == self._last:
            address = tiling.output.places[buffers.stored] + tile.part(buffers.part) * strides[tile.across]
        else:
            address = tiling.temporaries[place]
        address += begin * strides[0] if whole else 0
        return Place(address, operation.element.stored, size, tuple(strides))

    @property
    def _last(self) -> int:
        """The operation whose results are stored."""
        return len(self.tiling.nest.operations) - 1

    def _operand(self, source: Source, buffers: Buffers, begin: int) -> Operand:
        if isinstance(source, Number):
            return Constant(source.value)
        if isinstance(source, Result):
            found = self._result(source.operation, buffers, begin)
            return (
                Place(found.address, source.view.stored, found.bytes, found.strides) if source.view else found
            )
        return self._input(source, buffers.loaded, begin)

    def _input(self, access: Access, copy: int, begin: int) -> Place:
        buffer, first = self.tiling.buffer(access)
        element, strides = access.element, buffer.layout.strides
        address = buffer.places[copy] + first + begin * strides[0]
        return Place(address, element.stored, element.bytes, strides)

    def _extents(self, place: int) -> tuple[int, ...]:
        """Those over which an operation is computed."""
        tile = self.tiling.tile
        extents = tile.extents if place == self._last else tile.room
        return stripped(self.tiling.nest, extents, self.tiling.strip, place)

    def _plan(self, place: int, operands: list[Operand], reduced: tuple[int, ...]) -> VectorLoops:
        own, tile = self.tiling.nest.operations[place].axes, self._extents(place)
        # Axes whose elements follow one another in the result are seen as one if they come in its order.
        along = iter(self.tiling.nest.orders[place])
        order = [next(along) if axis in own else axis for axis in range(len(tile))]
        domain = (*own, *reduced)
        extents = [tile[axis] if axis in domain else 1 for axis in order]
        seen = [each.along(order) if isinstance(each, Place) else each for each in operands]
        return vector_loops(extents, seen, self.lanes, [order.index(axis) for axis in reduced])

    def _vector(
        self,
        builder: Builder,
        calculators: OperandCalculators,
        function: str,
        plan: VectorLoops,
    ) -> None:
        chosen = calculators.choose(builder, plan.operands)
        calculators.set_length(builder, plan.length)
        with ExitStack() as stack:
            for count in plan.loops:
                stack.enter_context(builder.loop(count))
            builder.add(function, **dict(zip(_FIELDS, chosen, strict=False)))


def nothing_of(function: str, element: Element) -> int | float:
    """The neutral element of a function."""
    if function in ("add", "multiply_add"):
        return 0.0 if element.float else 0
    least = function == "maximum"
    if element.float:
        return -np.inf if least else np.inf
    limits = np.iinfo(np.uint8 if element.name == "boolean" else element.dtype)  # type: ignore[type-var]
    return int(limits.min if least else limits.max)
