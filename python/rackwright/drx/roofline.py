"""The least time of a kernel: of its bytes through memory, or of its operations on all lanes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from rackwright.drx.nest import Nest

CHANNEL = 25_600_000_000
"""Bytes per second of a channel of DDR4-3200: 8 bytes, 3.2 billion times."""


@dataclass(frozen=True)
class Roofline:
    """Cycles that inputs and result, each moved once, and all operations take at least."""

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
    """That of a kernel whose inputs and result have so many bytes, on so many lanes."""
    memory = math.ceil(bytes_moved * clock_hz / CHANNEL)
    return Roofline(memory, math.ceil(lane_operations(nests) / lanes))


def lane_operations(nests: Iterable[Nest]) -> int:
    """Results of vector instructions, of which a lane computes one in a cycle."""
    return sum(
        operation.instructions * math.prod(nest.shape[axis] for axis in operation.domain)
        for nest in nests
        for operation in nest.operations
    )
