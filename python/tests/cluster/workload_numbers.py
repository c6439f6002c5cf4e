"""The random numbers that workloads of remote memory draw."""

from __future__ import annotations

from collections.abc import Iterator


def drawn(state: int = 1) -> Iterator[int]:
    """31 bits each, as `draw` in the workloads' sources gives them."""
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        yield state >> 33
