"""Typed loop nests: a kernel as operations over one domain, on elements at affine places of its inputs."""

from __future__ import annotations

from dataclasses import dataclass, field

from rackwright.drx.element import Element
from rackwright.drx.expression import Apply, Cast, Concat, Constant, Expression, Leaf
from rackwright.drx.kernel import row_major
from rackwright.errors import RackwrightError


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
    """What operation number `operation` gives."""

    operation: int

    def __str__(self) -> str:
        return f"%{self.operation}"


Source = Access | Number | Result


@dataclass(frozen=True)
class Operation:
    """A function of one element each of its sources; the low bits of the result are kept as `element`."""

    function: str
    element: Element
    sources: tuple[Source, ...]

    def __str__(self) -> str:
        return f"{self.function}.{self.element} {', '.join(map(str, self.sources))}"


@dataclass(frozen=True)
class Nest:
    """Operations over all indices of a domain; the last one gives elements of the result.

    The one at index i is that at `offset + sum(i * strides)` of the result.
    """

    shape: tuple[int, ...]
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

    def __str__(self) -> str:
        indices = ", ".join(f"i{axis} < {extent}" for axis, extent in enumerate(self.shape))
        lines = [f"for {indices}:", *(f"  %{place} = {each}" for place, each in enumerate(self.operations))]
        last = len(self.operations) - 1
        return "\n".join([*lines, f"  output[{_affine(self.offset, self.strides)}] = %{last}", ""])


def _affine(offset: int, strides: tuple[int, ...]) -> str:
    terms = [f"{stride}*i{axis}" for axis, stride in enumerate(strides) if stride]
    return " + ".join([*terms, str(offset)] if offset or not terms else terms)


def nests_of(expression: Expression) -> list[Nest]:
    """The nests that compute an expression: one for each array that it is put together of."""
    strides = row_major(expression.shape)
    if not isinstance(expression, Concat):
        return [_nest(expression, 0, strides)]
    step = strides[expression.axis]
    parts = zip(expression.parts, expression.begins, strict=True)
    return [_nest(part, begin * step, strides) for part, begin in parts]


def _nest(expression: Expression, offset: int, strides: tuple[int, ...]) -> Nest:
    lowering = _Lowering()
    lowering.result_of(expression)
    return Nest(expression.shape or (1,), tuple(lowering.operations), offset, strides or (0,))


@dataclass
class _Lowering:
    """Operations so far; equal ones are there once."""

    operations: list[Operation] = field(default_factory=list)
    known: dict[Operation, int] = field(default_factory=dict)
    sources: dict[int, Source] = field(default_factory=dict)

    def result_of(self, expression: Expression) -> int:
        """The last operation, which gives the expression in its own type."""
        source = self.source(expression)
        last = len(self.operations) - 1
        if source == Result(last) and self.operations[last].element == expression.element:
            return last
        self.operations.append(Operation("move", expression.element, (source,)))
        return last + 1

    def add(self, operation: Operation) -> Result:
        """The result of an operation."""
        if operation not in self.known:
            self.known[operation] = len(self.operations)
            self.operations.append(operation)
        return Result(self.known[operation])

    def source(self, node: Expression) -> Source:
        """Where the numbers of a node come from, whose values they are; their type may be a narrower one."""
        if id(node) not in self.sources:
            self.sources[id(node)] = self._source(node)
        return self.sources[id(node)]

    def _source(self, node: Expression) -> Source:
        if isinstance(node, Leaf):
            strides = node.strides or (0,)
            return Access(node.input, node.element, node.offset, strides)
        if isinstance(node, Constant):
            return Number(node.value)
        if isinstance(node, Apply):
            return self.add(self._applied(node, node.element))
        if isinstance(node, Cast):
            return self._cast(node)
        raise RackwrightError(f"{type(node).__name__} is no node of a nest")

    def _applied(self, node: Apply, element: Element) -> Operation:
        return Operation(node.function, element, tuple(map(self.source, node.arguments)))

    def _cast(self, node: Cast) -> Source:
        """Numbers that fit are the same in the other type; of others the low bits are kept where made."""
        if _holds(node.element, node.source.element):
            return self.source(node.source)
        if isinstance(node.source, Apply) and node.element.bytes <= node.source.element.bytes:
            return self.add(self._applied(node.source, node.element))
        return self.add(Operation("move", node.element, (self.source(node.source),)))


def _holds(wide: Element, narrow: Element) -> bool:
    """Every number of the one type is one of the other, and is computed with as such."""
    return wide.float == narrow.float and bool(
        wide.dtype.kind != "b" and (narrow.dtype.kind == "b" or _can_cast(narrow, wide))
    )


def _can_cast(narrow: Element, wide: Element) -> bool:
    import numpy as np

    return bool(np.can_cast(narrow.dtype, wide.dtype, "safe"))
