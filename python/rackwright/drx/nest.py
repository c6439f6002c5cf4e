"""Typed loop nests: a kernel as operations over one domain, on elements at affine places of its inputs."""

from __future__ import annotations

import itertools
import math
import operator
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from rackwright.drx.element import Element
from rackwright.drx.expression import Apply, Bits, Cast, Concat, Constant, Expression, Leaf, Named, Reduce
from rackwright.drx.kernel import row_major
from rackwright.drx.vector import read_together
from rackwright.errors import RackwrightError

_FEW = 8
"""Elements that are taken together by operations of their own."""

_MOST = 256
"""The most lanes that there are."""


@dataclass(frozen=True)
class Access:
    """Elements of an input over a domain: the one at index i is `offset + sum(i * strides)`, in elements."""

    input: int
    element: Element
    offset: int
    strides: tuple[int, ...]

    def __str__(self) -> str:
        return f"input{self.input + 1}[{_affine(self.offset, self.strides)}]"


@dataclass(frozen=True)
class Number:
    """A constant; that of `f32` is a float."""

    value: int | float

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True)
class Result:
    """The result of operation number `operation`; with `view`, its bits reinterpreted as that type."""

    operation: int
    view: Element | None = None

    def __str__(self) -> str:
        return f"%{self.operation}" + (f" as {self.view}" if self.view else "")


Source = Access | Number | Result


@dataclass(frozen=True)
class Operation:
    """A function of one element of each source; the low bits of the result are stored as `element`.

    There is a result for each index along `axes`. With axes in `reduced`, the result is the function of its
    previous value and the sources, for all indices along these axes.
    """

    function: str
    element: Element
    sources: tuple[Source, ...]
    axes: tuple[int, ...]
    reduced: tuple[int, ...] = ()

    def __str__(self) -> str:
        over = f" over {', '.join(f'i{axis}' for axis in self.reduced)}" if self.reduced else ""
        return f"{self.function}.{self.element} {', '.join(map(str, self.sources))}{over}"

    @property
    def instructions(self) -> int:
        """Its vector instructions: the operand of a selection or addition is first written to the result."""
        return 2 if len(self.sources) == 3 else 1

    @property
    def domain(self) -> tuple[int, ...]:
        """The axes along which elements of its sources are taken."""
        return tuple(sorted((*self.axes, *self.reduced)))


@dataclass(frozen=True)
class Nest:
    """Operations over the indices of a domain; the last one computes elements of the result.

    The one at index i is that at `offset + sum(i * strides)` of the result. The first `kept` axes are those
    of the result; along the others, operations are reductions.
    """

    shape: tuple[int, ...]
    kept: int
    operations: tuple[Operation, ...]
    offset: int
    strides: tuple[int, ...]

    @property
    def element(self) -> Element:
        """The type of the result."""
        return self.operations[-1].element

    @property
    def accesses(self) -> list[Access]:
        """All that is read of the inputs, once each."""
        found = (source for each in self.operations for source in each.sources)
        return list(dict.fromkeys(source for source in found if isinstance(source, Access)))

    @cached_property
    def late(self) -> frozenset[int]:
        """Operations that need all elements of a previous reduction."""
        found: set[int] = set()
        for place, operation in enumerate(self.operations):
            results = [each.operation for each in operation.sources if isinstance(each, Result)]
            if any(each in found or self.operations[each].reduced for each in results):
                found.add(place)
        return frozenset(found)

    @cached_property
    def unchanged(self) -> tuple[frozenset[int], ...]:
        """For each axis the operations, but for the last, that do not depend on the index along it."""
        return tuple(self._unchanged(axis) for axis in range(len(self.shape)))

    def _unchanged(self, axis: int) -> frozenset[int]:
        found: set[int] = set()
        for place, operation in enumerate(self.operations[:-1]):
            before = {source.operation for source in operation.sources if isinstance(source, Result)}
            if axis not in operation.domain and before <= found:
                found.add(place)
        return frozenset(found)

    @cached_property
    def orders(self) -> tuple[tuple[int, ...], ...]:
        """Of each operation, the axes of its result in the order in which it is in the scratchpad.

        The last one is that along which most elements of the sources are read at once. The result of the nest
        has its memory layout.
        """
        found: list[tuple[int, ...]] = []
        for operation in self.operations[:-1]:

            def together(axis: int, of: Operation = operation) -> int:
                reads = (self._together(source, axis, found) for source in of.sources)
                return min(*reads, self.shape[axis], _MOST)

            last = max(reversed(operation.axes), key=together, default=None)
            others = tuple(axis for axis in operation.axes if axis != last)
            found.append(others if last is None else (*others, last))
        return self._turned_early([*found, self.operations[-1].axes])

    def _turned_early(self, orders: list[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
        """Elements are put into the order of memory where they are narrow: more are read at once."""
        final = self.operations[-1].axes
        for place in reversed(range(len(orders) - 1)):
            operation = self.operations[place]
            before = [each.operation for each in operation.sources if isinstance(each, Result)]
            turned = [
                each for each in before if orders[each] != final and self.operations[each].axes == final
            ]
            narrow = all(self.operations[each].element.bytes < operation.element.bytes for each in turned)
            readers = [
                number
                for number, each in enumerate(self.operations)
                if any(isinstance(source, Result) and source.operation == place for source in each.sources)
            ]
            if (
                turned
                and narrow
                and operation.axes == final
                and all(orders[each] == final for each in readers)
            ):
                orders[place] = final
        return tuple(orders)

    @cached_property
    def turned(self) -> dict[int, int]:
        """Axes along which results are contiguous that are read along another one, and bytes of an element.

        There are none in a nest with reductions, nor those along which an input is read backwards.
        """
        found: dict[int, int] = {}
        if self.kept < len(self.shape):
            return found
        for operation, order in zip(self.operations, self.orders, strict=True):
            for source in operation.sources:
                if not isinstance(source, Result) or not order:
                    continue
                last = self.orders[source.operation][-1:]
                forwards = all(access.strides[axis] >= 0 for access in self.accesses for axis in last)
                if last and last[0] != order[-1] and forwards:
                    found[last[0]] = self.operations[source.operation].element.bytes
        return found

    def _together(self, source: Source, axis: int, orders: list[tuple[int, ...]]) -> int:
        if isinstance(source, Access):
            return read_together(source.strides[axis] * source.element.bytes, source.element.bytes, _MOST)
        if isinstance(source, Number) or axis not in orders[source.operation]:
            return _MOST
        return _MOST if axis == orders[source.operation][-1] else 1

    def is_divisible(self, axis: int) -> bool:
        """A part of the indices along the axis can be computed with after the other."""
        return axis < self.kept or all(axis not in self.operations[each].domain for each in self.late)

    def __str__(self) -> str:
        indices = ", ".join(f"i{axis} < {extent}" for axis, extent in enumerate(self.shape))
        lines = [f"for {indices}:", *(f"  %{place} = {each}" for place, each in enumerate(self.operations))]
        last = len(self.operations) - 1
        return "\n".join([*lines, f"  output[{_affine(self.offset, self.strides)}] = %{last}", ""])


def _affine(offset: int, strides: tuple[int, ...]) -> str:
    terms = [f"{stride}*i{axis}" for axis, stride in enumerate(strides) if stride]
    return " + ".join([*terms, str(offset)] if offset or not terms else terms)


def nests_of(expression: Expression) -> list[Nest]:
    """The nests that compute an expression: one for each concatenated array."""
    strides = row_major(expression.shape)
    if not isinstance(expression, Concat):
        return [_nest(expression, 0, strides)]
    step = strides[expression.axis]
    parts = zip(expression.parts, expression.begins, strict=True)
    return [_nest(part, begin * step, strides) for part, begin in parts]


def _nest(expression: Expression, offset: int, strides: tuple[int, ...]) -> Nest:
    kept = expression.shape or (1,)
    lowering = _Lowering(list(kept), len(kept))
    lowering.result_of(expression)
    shape, count = tuple(lowering.shape), len(lowering.shape)

    def whole(source: Source) -> Source:
        if not isinstance(source, Access):
            return source
        return replace(source, strides=source.strides + (0,) * (count - len(source.strides)))

    operations = [replace(each, sources=tuple(map(whole, each.sources))) for each in lowering.operations]
    own = strides or (0,)
    return Nest(shape, len(kept), tuple(operations), offset, own + (0,) * (count - len(own)))


def _trimmed(strides: Sequence[int]) -> tuple[int, ...]:
    """Strides without trailing zeros."""
    count = max((axis + 1 for axis, stride in enumerate(strides) if stride), default=0)
    return tuple(strides[:count])


@dataclass
class _Lowering:
    """Operations so far; equal ones occur once. Axes are those of the result, then further ones."""

    shape: list[int]
    kept: int
    operations: list[Operation] = field(default_factory=list)
    known: dict[Operation, int] = field(default_factory=dict)
    sources: dict[tuple[int, tuple[int, ...]], Source] = field(default_factory=dict)

    def result_of(self, expression: Expression) -> int:
        """The last operation, which computes the expression in its own type, along all axes."""
        axes = tuple(range(len(expression.shape)))
        source = self.source(expression, axes)
        last = len(self.operations) - 1
        if source == Result(last):
            own = self.operations[last]
            along = all(axis in own.axes or self.shape[axis] == 1 for axis in axes)
            if own.element == expression.element and along and not own.reduced:
                return last
        self.operations.append(Operation("move", expression.element, (source,), axes))
        return last + 1

    def add(
        self, function: str, element: Element, sources: tuple[Source, ...], reduced: tuple[int, ...] = ()
    ) -> Result:
        """The result of an operation, along the axes of its sources."""
        along = {axis for source in sources for axis in self._axes(source)}
        operation = Operation(function, element, sources, tuple(sorted(along - set(reduced))), reduced)
        if operation not in self.known:
            self.known[operation] = len(self.operations)
            self.operations.append(operation)
        return Result(self.known[operation])

    def _axes(self, source: Source) -> tuple[int, ...]:
        if isinstance(source, Access):
            return tuple(axis for axis, stride in enumerate(source.strides) if stride)
        return self.operations[source.operation].axes if isinstance(source, Result) else ()

    def _element(self, source: Source) -> Element | None:
        """The type in which the numbers of a source are available."""
        if isinstance(source, Access):
            return source.element
        if isinstance(source, Result):
            return source.view or self.operations[source.operation].element
        return None

    def source(self, node: Expression, axes: tuple[int, ...]) -> Source:
        """The source of a node's numbers, whose axes are these of the nest.

        The values are those of the node; their type may be narrower.
        """
        key = (id(node), axes)
        if key not in self.sources:
            self.sources[key] = self._source(node, axes)
        return self.sources[key]

    def _source(self, node: Expression, axes: tuple[int, ...]) -> Source:
        if isinstance(node, Leaf):
            strides = [0] * len(self.shape)
            for axis, stride in zip(axes, node.strides, strict=True):
                strides[axis] += stride if self.shape[axis] > 1 else 0
            return Access(node.input, node.element, node.offset, _trimmed(strides))
        if isinstance(node, Constant):
            return Number(node.value)
        if isinstance(node, Apply):
            return self._applied(node, node.element, axes)
        if isinstance(node, Named):
            return self.add(
                node.name, node.element, tuple(self.source(each, axes) for each in node.arguments)
            )
        if isinstance(node, Cast):
            return self._cast(node, axes)
        if isinstance(node, Bits):
            return self._bits(node, axes)
        if isinstance(node, Reduce):
            return self._reduced(node, axes)
        raise RackwrightError(f"{type(node).__name__} is no node of a nest")

    def _applied(self, node: Apply, element: Element, axes: tuple[int, ...]) -> Result:
        return self.add(node.function, element, tuple(self.source(each, axes) for each in node.arguments))

    def _cast(self, node: Cast, axes: tuple[int, ...]) -> Source:
        """Numbers that fit are equal in the other type; otherwise the low bits are stored."""
        if _holds(node.element, node.source.element):
            return self.source(node.source, axes)
        if isinstance(node.source, Constant):
            return Number(_cast_number(node.source.value, node.element))
        if isinstance(node.source, Apply) and _casts_as_it_stores(node.source, node.element):
            return self._applied(node.source, node.element, axes)
        return self.add("move", node.element, (self.source(node.source, axes),))

    def _bits(self, node: Bits, axes: tuple[int, ...]) -> Source:
        source = self.source(node.source, axes)
        if isinstance(source, Number):
            return Number(_converted(source.value, node.element))
        if self._element(source) is not node.source.element:
            source = self.add("move", node.source.element, (source,))
        if isinstance(source, Access):
            return replace(source, element=node.element)
        return replace(source, view=node.element)

    def _reduced(self, node: Reduce, axes: tuple[int, ...]) -> Source:
        exact = node.function != "add" or not node.element.float
        if isinstance(node.source, Leaf) and exact and _taken(node) <= _FEW:
            return self._pairwise(node, node.source, axes)
        further = self._further(node.source.shape[len(node.shape) :], axes)
        along, source = (*axes, *further), node.source
        if node.function == "add" and isinstance(source, Apply) and source.function == "multiply":
            factors = tuple(self.source(each, along) for each in source.arguments)
            return self.add("multiply_add", node.element, factors, further)
        return self.add(node.function, node.element, (self.source(source, along),), further)

    def _pairwise(self, node: Reduce, leaf: Leaf, axes: tuple[int, ...]) -> Source:
        """Few elements, two and two at a time: no result is waited for to be added to."""
        kept = len(node.shape)
        extents, strides = leaf.shape[kept:], leaf.strides[kept:]
        sources: list[Source] = []
        for index in itertools.product(*map(range, extents)):
            further = sum(map(operator.mul, index, strides))
            part = Leaf(leaf.element, node.shape, leaf.input, leaf.offset + further, leaf.strides[:kept])
            sources.append(self._source(part, axes))
        while len(sources) > 1:
            pairs = zip(sources[::2], sources[1::2], strict=False)
            rest = sources[len(sources) // 2 * 2 :]
            sources = [self.add(node.function, node.element, pair) for pair in pairs] + rest
        return sources[0]

    def _further(self, extents: tuple[int, ...], taken: tuple[int, ...]) -> tuple[int, ...]:
        """Axes in addition to those in use, shared by several nodes with the same extents."""
        found: list[int] = []
        for extent in extents:
            free = (
                axis
                for axis in range(self.kept, len(self.shape))
                if self.shape[axis] == extent and axis not in taken and axis not in found
            )
            axis = next(free, len(self.shape))
            if axis == len(self.shape):
                self.shape.append(extent)
            found.append(axis)
        return tuple(found)


def _taken(node: Reduce) -> int:
    """The number of elements reduced for each element of the result."""
    return math.prod(node.source.shape[len(node.shape) :])


def _casts_as_it_stores(node: Apply, element: Element) -> bool:
    """The function's result can be stored as the other type in the same instruction.

    `select` and `multiply_add` take one operand from where they store. Binary32 would be rounded there before
    the function has it, and a constant alone has no type, so that its bits would be taken as an integer.
    """
    if element.bytes > node.element.bytes:
        return False
    return node.function not in ("select", "multiply_add") or node.element.float == element.float


def _cast_number(value: int | float, element: Element) -> int | float:
    """A constant as the unit casts it: towards 0, to the nearest of 32 bits, of which the low ones."""
    if element.float:
        return float(np.float32(value))
    whole = 0 if value != value else int(max(-(2.0**31), min(value, 2.0**31 - 1)))
    return int(np.int64(whole).astype(element.dtype))


def _converted(value: int | float, element: Element) -> int | float:
    """A constant whose bits are taken as another type's."""
    if isinstance(value, float):
        return int(struct.unpack("<i", struct.pack("<f", value))[0])
    return float(struct.unpack("<f", struct.pack("<i", value))[0]) if element.float else value


def _holds(wide: Element, narrow: Element) -> bool:
    """Every number of the one type is one of the other, and is computed as such."""
    same = narrow.dtype.kind == "b" or np.can_cast(narrow.dtype, wide.dtype, "safe")
    return wide.float == narrow.float and wide.dtype.kind != "b" and bool(same)
