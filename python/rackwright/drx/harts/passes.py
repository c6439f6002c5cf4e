"""A nest as functions of C: a pass for each operation, or one pass for all of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from rackwright.drx.harts.loops import LINE, Array, Loops, input_name
from rackwright.drx.harts.values import TYPES
from rackwright.drx.nest import Nest, Result
from rackwright.drx.tiling import coalesced

_ITEMS = 64
"""Minimum number of parts of the work, if it is large enough."""

_PART = 256
"""Minimum number of elements of a part."""

_CHOSEN = ("minimum", "maximum")
"""Functions whose sequences are one operation on arrays: `xp.max`, `xp.clip`."""


@dataclass(frozen=True)
class Pass:
    """A function of C over a share of its `items`."""

    name: str
    items: int
    text: str


@dataclass(frozen=True)
class Code:
    """Passes of a kernel in stages, each of which needs the previous one, and intermediate arrays."""

    stages: list[list[Pass]] = field(default_factory=list)
    arrays: list[Array] = field(default_factory=list)


class NestCode:
    """The functions of nest number `number` of a kernel, whose result is written to `output`."""

    def __init__(self, nest: Nest, number: int) -> None:
        self.nest = coalesced(nest)
        self.number = number

    @property
    def _last(self) -> int:
        return len(self.nest.operations) - 1

    @cached_property
    def _output(self) -> _Output:
        axes = range(self.nest.kept)
        strides = {axis: self.nest.strides[axis] for axis in axes}
        return _Output(
            "output_elements", self.nest.element, tuple(axes), self.nest.shape[: len(axes)], strides
        )

    def by_operation(self) -> Code:
        """A pass for each operation, which writes an array, and a stage for each pass."""
        code = Code()
        arrays: dict[int, Array] = {self._last: self._output}
        for place in range(self._last):
            if self._is_within(place) is None:
                operation = self.nest.operations[place]
                order = self.nest.orders[place] or (0,)
                extents = tuple(self.nest.shape[axis] if axis in operation.axes else 1 for axis in order)
                arrays[place] = Array(f"t{self.number}_{place}", operation.element, order, extents)
        for place in sorted(arrays):
            name = f"nest{self.number}_{place}"
            kept = {each: array for each, array in arrays.items() if each != self._last}
            loops = Loops(self.nest, arrays)
            if self.nest.operations[place].reduced:
                items = self._reduced(loops, place, arrays[place].order)
            else:
                members = [*(each for each in range(place) if self._is_within(each) == place), place]
                order = arrays[place].order
                items = self._elementwise(loops, members, order)
            code.stages.append([self._pass(name, items, loops, kept.values())])
        code.arrays.extend(array for place, array in arrays.items() if place != self._last)
        return code

    def _is_within(self, place: int) -> int | None:
        """The operation on arrays that an operation is a part of, if it is not one itself."""
        readers = [
            number
            for number, each in enumerate(self.nest.operations)
            if any(isinstance(source, Result) and source.operation == place for source in each.sources)
        ]
        own = self.nest.operations[place]
        if len(readers) != 1 or own.reduced or own.function not in _CHOSEN:
            return None
        (reader,) = readers
        other = self.nest.operations[reader]
        if other.reduced or other.function not in _CHOSEN or other.axes != own.axes:
            return None
        further = self._is_within(reader)
        return reader if further is None else further

    def fused(self) -> Code:
        """One pass with all operations of an element; with sums, of an index along the first axis."""
        name = f"nest{self.number}"
        if any(each.reduced for each in self.nest.operations):
            return Code([[self._by_row(name)]])
        loops = Loops(self.nest, {self._last: self._output})
        every = range(self._last + 1)
        axes = range(len(self.nest.shape))
        inner = min(reversed(axes), key=lambda axis: self._touched(loops, axis))
        items = self._elementwise(loops, every, (*(axis for axis in axes if axis != inner), inner))
        return Code([[self._pass(name, items, loops, ())]])

    def _touched(self, loops: Loops, axis: int) -> int:
        written = min(abs(self.nest.strides[axis]) * self.nest.element.bytes, LINE)
        return written + sum(loops.step(access, axis) for access in self.nest.accesses)

    def _elementwise(self, loops: Loops, members: Sequence[int], order: Sequence[int]) -> int:
        """Operations at each index, in shares of the outer axes and of parts of the inner one."""
        *outer, inner = order
        extent = self.nest.shape[inner] if self.nest.shape else 1
        rows = math.prod(self.nest.shape[axis] for axis in outer)
        parts = 1 if rows >= _ITEMS else max(1, min(math.ceil(_ITEMS / rows), extent // _PART))
        size = math.ceil(extent / parts)
        self._items(loops, outer, parts)
        if parts == 1:
            loops.open(inner)
        else:
            loops.add(f"const long first = part * {size};")
            loops.add(f"const long behind = first + {size} < {extent} ? first + {size} : {extent};")
            loops.open(inner, "first", "behind")
        loops.elements(members)
        loops.close(2)
        return rows * parts

    def _items(self, loops: Loops, axes: Sequence[int], parts: int = 1) -> None:
        """Begins the loop over items, each an index along all axes, and a part."""
        loops.add("for (long item = begin; item < end; item++) {")
        loops.depth += 1
        below = 1
        if parts > 1:
            loops.add(f"const long part = item % {parts};")
            below = parts
        for axis in reversed(axes):
            loops.add(f"const long i{axis} = item / {below} % {self.nest.shape[axis]};")
            below *= self.nest.shape[axis]

    def _reduced(self, loops: Loops, place: int, order: Sequence[int]) -> int:
        """The reduction of an operation, for each index along all but the last of its axes."""
        outer = order[:-1]
        self._items(loops, outer)
        loops.together(place, order[-1:])
        loops.close()
        return math.prod(self.nest.shape[axis] for axis in outer)

    def _by_row(self, name: str) -> Pass:
        """All operations for an index along the first axis; those that others read also write rows of it."""
        groups = self._groups()
        arrays: dict[int, Array] = {self._last: self._output}
        for group in groups:
            for place in group:
                operation = self.nest.operations[place]
                if place != self._last and (operation.reduced or self._is_read_outside(place, group)):
                    order = tuple(axis for axis in self.nest.orders[place] if axis) or (0,)
                    extents = tuple(self.nest.shape[axis] if axis else 1 for axis in order)
                    arrays[place] = _Row(f"t{place}", operation.element, order, extents)
        loops = Loops(self.nest, arrays)
        self._items(loops, (0,))
        for group in groups:
            operation = self.nest.operations[group[-1]]
            along = [axis for axis in self.nest.orders[group[-1]] if axis]
            if operation.reduced:
                loops.together(group[-1], along)
            else:
                opened = loops.around(along)
                loops.elements(group)
                loops.close(opened)
        loops.close()
        rows = [array for place, array in arrays.items() if place != self._last]
        own = [
            f"    static _Thread_local {TYPES[array.element.name]} {array.name}[{math.prod(array.extents)}];"
            for array in rows
        ]
        return self._pass(name, self.nest.shape[0], loops, (), own)

    def _groups(self) -> list[list[int]]:
        """Operations in order: those along the same axes, between two reductions."""
        found: list[list[int]] = []
        for place, operation in enumerate(self.nest.operations):
            before = self.nest.operations[found[-1][-1]] if found else None
            alike = before and not before.reduced and not operation.reduced
            if alike and before and {*before.axes, 0} == {*operation.axes, 0}:
                found[-1].append(place)
            else:
                found.append([place])
        return found

    def _is_read_outside(self, place: int, group: Sequence[int]) -> bool:
        return any(
            isinstance(source, Result) and source.operation == place
            for number, each in enumerate(self.nest.operations)
            if number not in group
            for source in each.sources
        )

    def _pass(
        self, name: str, items: int, loops: Loops, arrays: Iterable[Array], own: Sequence[str] = ()
    ) -> Pass:
        """The function around loops, with names for all that they access."""
        accesses = {
            (input_name(access), access.input, access.element): None
            for access in self.nest.accesses
            if any(f"{input_name(access)}[" in line for line in loops.lines)
        }
        names = [
            f"    const {TYPES[element.name]} *restrict {known} = inputs[{place}];"
            for known, place, element in accesses
        ]
        names += [
            f"    {TYPES[array.element.name]} *restrict {array.name} = {array.name}_place;"
            for array in arrays
            if any(f"{array.name}[" in line for line in loops.lines)
        ]
        if any("output_elements[" in line for line in loops.lines):
            names.append(f"    {TYPES[self.nest.element.name]} *restrict output_elements = output;")
        head = f"static void {name}(long begin, long end)"
        return Pass(name, items, "\n".join([head, "{", *names, *own, *loops.lines, "}", ""]))


@dataclass(frozen=True)
class _Output(Array):
    """The result of a nest, which is part of the kernel's result."""

    within: dict[int, int] = field(default_factory=dict)

    @cached_property
    def strides(self) -> dict[int, int]:
        return self.within


@dataclass(frozen=True)
class _Row(Array):
    """The data for one index along the first axis at a time."""

    @cached_property
    def strides(self) -> dict[int, int]:
        return {axis: step for axis, step in super().strides.items() if axis}
