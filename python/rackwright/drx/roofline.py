"""Lower bound of a kernel's time: for its bytes through memory, or its operations on all lanes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from rackwright.drx.nest import Nest

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
    return Roofline(memory, math.ceil(lane_operations(nests) / lanes))


def lane_operations(nests: Iterable[Nest]) -> int:
    """Results of vector instructions; a lane computes one per cycle."""
    return sum(
        operation.instructions * math.prod(nest.shape[axis] for axis in operation.domain)
        for nest in nests
        for operation in nest.operations
    )
