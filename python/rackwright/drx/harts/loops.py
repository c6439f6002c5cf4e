"""C loops over the operations of a nest: their inputs, outputs and order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from rackwright.drx.element import Element
from rackwright.drx.harts.values import TYPES, number, value_of
from rackwright.drx.kernel import row_major
from rackwright.drx.nest import Access, Nest, Number, Operation, Result, Source
from rackwright.drx.operations import nothing_of

LINE = 64
"""Bytes of a cache line, one of which is accessed for elements that are far apart."""

_UNROLLED = (8, 4, 2, 1)
"""The number of elements added to a result at a time; extents are a multiple of it."""


@dataclass(frozen=True)
class Array:
    """The location of an operation's results: elements along `order`, the last axis contiguous."""

    name: str
    element: Element
    order: tuple[int, ...]
    extents: tuple[int, ...]

    @cached_property
    def strides(self) -> dict[int, int]:
        """Elements from one index to the next along each axis."""
        return dict(zip(self.order, row_major(self.extents), strict=True))


@dataclass
class Loops:
    """Builds loops around operations. `arrays` are results that are in memory, by their operations."""

    nest: Nest
    arrays: Mapping[int, Array]
    lines: list[str] = field(default_factory=list)
    depth: int = 1

    def add(self, line: str) -> None:
        """One more line."""
        self.lines.append("    " * self.depth + line)

    def open(self, axis: int, first: str = "0", behind: str | None = None, step: int = 1) -> None:
        """Begins a loop along an axis."""
        to = str(self.nest.shape[axis]) if behind is None else behind
        self.add(f"for (long i{axis} = {first}; i{axis} < {to}; i{axis} += {step}) {{")
        self.depth += 1

    def close(self, count: int = 1) -> None:
        """Ends loops."""
        for _ in range(count):
            self.depth -= 1
            self.add("}")

    def around(self, axes: Iterable[int]) -> int:
        """Opens loops along axes, and returns their number."""
        axes = list(axes)
        for axis in axes:
            self.open(axis)
        return len(axes)

    def elements(self, members: Sequence[int]) -> None:
        """Operations at one index; those with results in memory write them."""
        for place in members:
            operation = self.nest.operations[place]
            sources, elements = self._sources(operation, f"{place}", {}, members)
            text = value_of(operation.function, operation.element, sources, elements)
            self.add(f"const {TYPES[operation.element.name]} v{place} = {text};")
            if place in self.arrays:
                self.add(f"{self.at(place)} = v{place};")

    def together(self, place: int, kept: Sequence[int]) -> None:
        """The reduction of an operation, for each index along the `kept` axes that have no loop yet."""
        operation = self.nest.operations[place]
        last = operation.reduced[-1]
        if kept and self.cost(operation, kept[-1]) <= self.cost(operation, last):
            self._rows(place, operation, kept)
        else:
            self._sum(place, operation, kept)

    def _rows(self, place: int, operation: Operation, kept: Sequence[int]) -> None:
        """Rows of elements to rows of results, several at a time."""
        *others, last = operation.reduced
        nothing = number(nothing_of(operation.function, operation.element))
        opened = self.around(kept)
        self.add(f"{self.at(place)} = {nothing};")
        self.close(opened)
        extent = self.nest.shape[last]
        step = next(each for each in _UNROLLED if extent % each == 0)
        opened = self.around(others)
        self.open(last, step=step)
        inner = self.around(kept)
        self.add(f"{TYPES[operation.element.name]} sum = {self.at(place)};")
        for further in range(step):
            self._take(operation, f"{place}_{further}", {last: further})
        self.add(f"{self.at(place)} = sum;")
        self.close(opened + 1 + inner)

    def _sum(self, place: int, operation: Operation, kept: Sequence[int]) -> None:
        """One result after the other."""
        opened = self.around(kept)
        nothing = number(nothing_of(operation.function, operation.element))
        self.add(f"{TYPES[operation.element.name]} sum = {nothing};")
        inner = self.around(operation.reduced[:-1])
        if operation.function in ("add", "multiply_add"):
            self.lines.append("#pragma omp simd reduction(+ : sum)")
        self.open(operation.reduced[-1])
        self._take(operation, f"{place}", {})
        self.close(inner + 1)
        self.add(f"{self.at(place)} = sum;")
        self.close(opened)

    def _take(self, operation: Operation, name: str, further: Mapping[int, int]) -> None:
        sources, elements = self._sources(operation, name, further, ())
        text = value_of(
            operation.function, operation.element, ["sum", *sources], [operation.element, *elements]
        )
        self.add(f"sum = {text};")

    def _sources(
        self, operation: Operation, name: str, further: Mapping[int, int], members: Sequence[int]
    ) -> tuple[list[str], list[Element]]:
        """The sources as names or constants, and the types of named ones."""
        texts, elements = [], []
        for place, source in enumerate(operation.sources):
            if isinstance(source, Number):
                texts.append(number(source.value))
                continue
            element = self.element(source)
            elements.append(element)
            if isinstance(source, Result) and source.operation in members:
                texts.append(f"v{source.operation}")
                continue
            texts.append(f"s{name}_{place}")
            self.add(f"const {TYPES[element.name]} {texts[-1]} = {self._read(source, further)};")
        return texts, elements

    def element(self, source: Access | Result) -> Element:
        """The type of the elements of a source."""
        return (
            source.element if isinstance(source, Access) else self.nest.operations[source.operation].element
        )

    def _read(self, source: Access | Result, further: Mapping[int, int]) -> str:
        if isinstance(source, Result):
            return self.at(source.operation, further)
        strides = dict(enumerate(source.strides))
        return f"{input_name(source)}[{_index(source.offset, strides, further)}]"

    def at(self, place: int, further: Mapping[int, int] | None = None) -> str:
        """The element of a result at the index of the loops."""
        array = self.arrays[place]
        offset = self.nest.offset if place == len(self.nest.operations) - 1 else 0
        return f"{array.name}[{_index(offset, array.strides, further or {})}]"

    def cost(self, operation: Operation, axis: int) -> int:
        """Bytes of memory that are touched for an element more along an axis."""
        return sum(self.step(source, axis) for source in operation.sources)

    def step(self, source: Source, axis: int) -> int:
        """Bytes from an element of a source to the next one along an axis, if relevant."""
        if isinstance(source, Number):
            return 0
        if isinstance(source, Access):
            steps = source.strides[axis]
        elif source.operation in self.arrays:
            steps = self.arrays[source.operation].strides.get(axis, 0)
        else:
            steps = 0
        return min(abs(steps) * self.element(source).bytes, LINE)


def input_name(access: Access) -> str:
    """The names of an input's elements, as numbers of the type as which they are read."""
    return f"input{access.input + 1}_{access.element.name}"


def _index(offset: int, strides: Mapping[int, int], further: Mapping[int, int]) -> str:
    offset += sum(strides.get(axis, 0) * more for axis, more in further.items())
    terms = [f"i{axis} * {step}" for axis, step in strides.items() if step]
    return " + ".join([*terms, str(offset)] if offset or not terms else terms)
