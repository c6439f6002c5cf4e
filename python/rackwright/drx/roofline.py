"""The least time of a kernel: of its bytes through memory, or of its operations on all lanes."""

from __future__ import annotations

import math
from collections.abc import Iterable

from rackwright.drx.nest import Nest

CHANNEL = 25_600_000_000
"""Bytes per second of a channel of DDR4-3200: 8 bytes, 3.2 billion times."""


def roofline_cycles(nests: Iterable[Nest], bytes_moved: int, lanes: int, clock_hz: int) -> int:
    """Cycles that inputs and result, each moved once, or all operations take at least."""
    memory = math.ceil(bytes_moved * clock_hz / CHANNEL)
    return max(memory, math.ceil(lane_operations(nests) / lanes))


def lane_operations(nests: Iterable[Nest]) -> int:
    """Results of vector instructions, of which a lane computes one in a cycle."""
    return sum(
        operation.instructions * math.prod(nest.shape[axis] for axis in operation.domain)
        for nest in nests
        for operation in nest.operations
    )
