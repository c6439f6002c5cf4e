"""Lower bound of a kernel's time: for its bytes through memory, or its operations on all lanes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from rackwright.drx.nest import Nest, Number, Operation, Result
from rackwright.drx.vector import LANE_BYTES, PACKED, Constant, fits_packed

CHANNEL = 25_600_000_000
"""Bytes per second of a channel of DDR4-3200: 8 bytes, 3.2 billion times."""


@dataclass(frozen=True)
class Roofline:
    """Lower bound of cycles for moving inputs and result once, and for all operations."""

    memory: int
    lanes: int

    @property
    def cycles(self) -> int:
        """The more of both."""
        return max(self.memory, self.lanes)

    @property
    def bound(self) -> str:
        """Which that is."""
        return "memory" if self.memory >= self.lanes else "lanes"


def roofline_of(nests: Iterable[Nest], bytes_moved: int, lanes: int, clock_hz: int) -> Roofline:
    """The roofline of a kernel with this number of bytes in inputs and result, on this number of lanes."""
    memory = math.ceil(bytes_moved * clock_hz / CHANNEL)
    return Roofline(memory, math.ceil(lane_cycles(nests) / lanes))


def lane_cycles(nests: Iterable[Nest]) -> float:
    """Cycles of one lane for all results of vector instructions: it computes one per cycle, or several."""
    return sum(
        operation.instructions
        * math.prod(nest.shape[axis] for axis in operation.domain)
        / _at_once(nest, operation)
        for nest in nests
        for operation in nest.operations
    )


def _at_once(nest: Nest, operation: Operation) -> int:
    """Results that a lane computes in a cycle if all operands are contiguous: several of small integers."""
    elements = [operation.element]
    numbers = []
    for source in operation.sources:
        if isinstance(source, Number):
            numbers.append(Constant(source.value).bits)
        elif isinstance(source, Result):
            elements.append(source.view or nest.operations[source.operation].element)
        else:
            elements.append(source.element)
    if any(element.float for element in elements):
        return 1
    for size in PACKED:
        small = all(element.bytes <= size for element in elements)
        if small and all(fits_packed(number, size) for number in numbers):
            return LANE_BYTES // size
    return 1
