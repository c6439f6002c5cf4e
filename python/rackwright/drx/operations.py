"""The operations of a tile, as vector instructions."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, replace

import numpy as np

from rackwright.drx.calculators import OperandCalculators
from rackwright.drx.element import Element
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
class Operations:
    """Adds operations to programs, for buffers of any copy."""

    tiling: Tiling
    lanes: int

    def begin(self, builder: Builder, calculators: OperandCalculators) -> None:
        """Reductions start with the neutral element."""
        for place, operation in enumerate(self.tiling.nest.operations):
            if operation.reduced:
                nothing = Constant(nothing_of(operation.function, operation.element))
                plan = self._plan(place, [self._result(place, 0), nothing], ())
                self._vector(builder, calculators, "move", plan)

    def add(
        self, builder: Builder, calculators: OperandCalculators, places: Iterable[int], copy: int
    ) -> None:
        """Operations by their numbers, over the tile in a copy of the buffers; the last of them in strips."""
        tiling = self.tiling
        if tiling.strip == tiling.tile[0]:
            self._add(builder, calculators, places, copy, 0)
            return
        chosen = list(places)
        self._add(builder, calculators, [each for each in chosen if each not in tiling.nest.late], copy, 0)
        late = [each for each in chosen if each in tiling.nest.late]
        for begin in range(0, tiling.tile[0], tiling.strip):
            self._add(builder, calculators, late, copy, begin)

    def _add(
        self,
        builder: Builder,
        calculators: OperandCalculators,
        places: Iterable[int],
        copy: int,
        begin: int,
    ) -> None:
        for place in places:
            for function, operands, reduced in self._instructions(place, copy, begin):
                self._vector(builder, calculators, function, self._plan(place, operands, reduced))

    def cycles(self, places: Iterable[int]) -> int:
        """Cycles of the operations of a tile, each of which waits for the results of the previous one."""
        strips = self.tiling.tile[0] // self.tiling.strip
        return sum(
            (max(self._plan(place, operands, reduced).cycles, _LATENCY) + _STALL)
            * (strips if place in self.tiling.nest.late else 1)
            for place in places
            for _, operands, reduced in self._instructions(place, 0, 0)
        )

    def _instructions(
        self, place: int, copy: int, begin: int
    ) -> list[tuple[str, list[Operand], tuple[int, ...]]]:
        """The vector instructions of an operation: functions, operands, and axes taken together.

        `begin` is the first index along the first axis.
        """
        operation = self.tiling.nest.operations[place]
        function, reduced = operation.function, operation.reduced
        destination = self._result(place, copy, begin)
        sources = [self._operand(source, copy, begin) for source in operation.sources]
        if function == "select":
            condition, chosen, other = sources
            return [("move", [destination, other], ()), (function, [destination, condition, chosen], ())]
        if function == "multiply_add" and not reduced:
            first, second, added = sources
            return [("move", [destination, added], ()), (function, [destination, first, second], ())]
        if reduced and function != "multiply_add":
            sources.insert(0, destination)
        return [(function, [destination, *sources], reduced)]

    def _result(self, place: int, copy: int, begin: int = 0) -> Place:
        """The output of an operation, in the order of its axes.

        Temporaries of strips have one address for all strips.
        """
        operation = self.tiling.nest.operations[place]
        last = place == len(self.tiling.nest.operations) - 1
        whole = last or place not in self.tiling.nest.late
        size = operation.element.bytes
        tile = self.tiling.tile if whole else self._tile(place)
        order = self.tiling.nest.orders[place]
        strides = [0] * len(tile)
        for axis, step in zip(order, row_major(tuple(tile[axis] for axis in order)), strict=True):
            strides[axis] = step * size
        address = self.tiling.output.places[copy] if last else self.tiling.temporaries[place]
        address += begin * strides[0] if whole else 0
        return Place(address, operation.element.stored, size, tuple(strides))

    def _operand(self, source: Source, copy: int, begin: int) -> Operand:
        if isinstance(source, Number):
            return Constant(source.value)
        if isinstance(source, Result):
            found = self._result(source.operation, copy, begin)
            return (
                Place(found.address, source.view.stored, found.bytes, found.strides) if source.view else found
            )
        return self._input(source, copy, begin)

    def _input(self, access: Access, copy: int, begin: int) -> Place:
        buffer, first = self.tiling.buffer(access)
        element, strides = access.element, buffer.layout.strides
        address = buffer.places[copy] + first + begin * strides[0]
        return Place(address, element.stored, element.bytes, strides)

    def _tile(self, place: int) -> tuple[int, ...]:
        return stripped(self.tiling.nest, self.tiling.tile, self.tiling.strip, place)

    def _plan(self, place: int, operands: list[Operand], reduced: tuple[int, ...]) -> VectorLoops:
        own, tile = self.tiling.nest.operations[place].axes, self._tile(place)
        # Axes whose elements follow one another in the result are seen as one if they come in its order.
        along = iter(self.tiling.nest.orders[place])
        order = [next(along) if axis in own else axis for axis in range(len(tile))]
        domain = (*own, *reduced)
        extents = [tile[axis] if axis in domain else 1 for axis in order]
        seen = [
            replace(each, strides=tuple(each.strides[axis] for axis in order))
            if isinstance(each, Place)
            else each
            for each in operands
        ]
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
