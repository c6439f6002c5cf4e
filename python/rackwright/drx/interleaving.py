"""The order of operations and of instructions: others fill the time in which one would wait for results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rackwright.drx.nest import Nest, Result, Source
from rackwright.drx.vector import LATENCY, Operand, Place, VectorLoops

Range = tuple[int, int]
"""The first byte of the scratchpad and the one after the last."""

_CYCLES = 8
"""Of an instruction, while tiles are not known: few enough that the next one would wait for its results."""


@dataclass(frozen=True)
class VectorInstruction:
    """A function of the operands of loops, of which the first is the destination."""

    function: str
    plan: VectorLoops

    @cached_property
    def written(self) -> Range:
        """The bytes that it writes, and those between them."""
        (written,) = self._ranges(self.plan.operands[:1])
        return written

    @cached_property
    def read(self) -> list[Range]:
        """The bytes that it reads, and those between them, for each operand in the scratchpad."""
        adds = self.function == "multiply_add"
        return list(self._ranges(self.plan.operands[0 if adds else 1 :]))

    def _ranges(self, operands: Sequence[Operand]) -> Iterator[Range]:
        counts = (*self.plan.loops, self.plan.length)
        for each in operands:
            if isinstance(each, Place):
                steps = [stride * (count - 1) for stride, count in zip(each.strides, counts, strict=True)]
                reach = sum(max(0, step) for step in steps) + each.bytes
                yield each.address + sum(min(0, step) for step in steps), each.address + reach

    def reads_from(self, other: VectorInstruction) -> bool:
        """It reads what another one writes."""
        return any(_meet(each, other.written) for each in self.read)

    def overwrites(self, other: VectorInstruction) -> bool:
        """It writes what another one reads or writes."""
        return any(_meet(self.written, each) for each in (other.written, *other.read))


def _meet(one: Range, other: Range) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def interleaved(instructions: Sequence[VectorInstruction]) -> list[VectorInstruction]:
    """The instructions of a tile in an order in which they wait little, and have the same results."""
    before = [instructions[:place] for place in range(len(instructions))]
    sources = [
        {place for place, other in enumerate(others) if each.reads_from(other)}
        for each, others in zip(instructions, before, strict=True)
    ]
    earlier = [
        {place for place, other in enumerate(others) if each.overwrites(other)}
        for each, others in zip(instructions, before, strict=True)
    ]
    cycles = [each.plan.cycles for each in instructions]
    return [instructions[place] for place in _order(sources, earlier, cycles)]


def spread(nest: Nest) -> Nest:
    """The same nest with its operations in an order in which they wait little for each other."""
    operations = nest.operations
    sources = [
        {source.operation for source in each.sources if isinstance(source, Result)} for each in operations
    ]
    cycles = [_CYCLES * each.instructions for each in operations]
    order = _order(sources, [set() for _ in operations], cycles)
    numbers = {place: number for number, place in enumerate(order)}

    def seen(source: Source) -> Source:
        return replace(source, operation=numbers[source.operation]) if isinstance(source, Result) else source

    moved = (operations[place] for place in order)
    return replace(
        nest, operations=tuple(replace(each, sources=tuple(map(seen, each.sources))) for each in moved)
    )


def _order(sources: Sequence[set[int]], earlier: Sequence[set[int]], cycles: Sequence[int]) -> list[int]:
    """The order in which the next one is among those that wait the least.

    `sources` are those whose results one reads, `earlier` others that it may not go ahead of. Among those
    that wait equally long, one that is the last to read results comes first.
    """
    begins: dict[int, int] = {}
    readers = [sum(place in each for each in sources) for place in range(len(sources))]
    waiting, now = list(range(len(sources))), 0
    while waiting:
        ready = (each for each in waiting if sources[each] | earlier[each] <= begins.keys())
        start = {place: max([now, *(begins[other] + LATENCY for other in sources[place])]) for place in ready}

        def cost(place: int, start: dict[int, int] = start) -> tuple[int, int]:
            return start[place], -sum(readers[other] == 1 for other in sources[place])

        chosen = min(start, key=cost)
        begins[chosen] = start[chosen]
        now = start[chosen] + cycles[chosen]
        for other in sources[chosen]:
            readers[other] -= 1
        waiting.remove(chosen)
    return list(begins)
