"""Which calls of a large suite are measured, and how exact the result is.

A suite's speed is all its bytes over all its time. Most time is that of few large calls, most calls are
small. Calls are drawn with replacement, with a chance that grows as the square root of their size: by size
alone, nearly all simulated time would go to the largest few calls; evenly, they would hardly be drawn. The
estimate of time per byte is a ratio estimate with weights 1/chance; its standard error follows by
linearisation (Cochran 1977, chapters 6 and 9A).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil, sqrt
from random import Random

_OVERHEAD_BYTES = 1024
"""A call's fixed cost, as bytes: even empty calls take time."""

PORTION_CALLS = 16
"""Calls that are drawn, measured and kept together."""

FIRST_PORTIONS = 3

_MOST_GROWTH = 4


class Sample:
    """An endless sequence of portions, drawn from calls of `sizes` bytes, the same for the same seed."""

    def __init__(self, sizes: Sequence[int], seed: int) -> None:
        weights = [sqrt(size + _OVERHEAD_BYTES) for size in sizes]
        self._sums = list(accumulate(weights))
        self._random = Random(f"sample/{seed}")
        self._portions: list[tuple[int, ...]] = []
        self.chances = [weight / self._sums[-1] for weight in weights]

    def portion(self, number: int) -> tuple[int, ...]:
        """The calls of a portion; one may be among them several times."""
        while len(self._portions) <= number:
            self._portions.append(tuple(self._draw() for _ in range(PORTION_CALLS)))
        return self._portions[number]

    def _draw(self) -> int:
        place = self._random.random() * self._sums[-1]
        return min(bisect_right(self._sums, place), len(self._sums) - 1)


def portions_needed(done: int, error: float, wanted: float) -> int:
    """How many portions are needed for the error `wanted`, when `done` of them give `error`."""
    if error <= wanted:
        return done
    return max(done + 1, min(ceil(done * (error / wanted) ** 2), _MOST_GROWTH * done))


@dataclass(frozen=True)
class Estimate:
    """Speed over a whole suite, in bytes per second, and its standard error relative to it."""

    bytes_per_second: float
    standard_error: float


def estimate(draws: Sequence[tuple[int, int, float]], chances: Sequence[float]) -> Estimate:
    """The speed of a suite, from draws (call, its bytes, its seconds) made with `chances`."""
    weights = [1 / chances[call] for call, _, _ in draws]
    total_bytes = sum(weight * size for weight, (_, size, _) in zip(weights, draws, strict=True))
    total_time = sum(weight * seconds for weight, (_, _, seconds) in zip(weights, draws, strict=True))
    ratio = total_time / total_bytes
    residuals = (
        weight * (seconds - ratio * size) for weight, (_, size, seconds) in zip(weights, draws, strict=True)
    )
    variance = sum(residual**2 for residual in residuals) * len(draws) / (len(draws) - 1)
    return Estimate(total_bytes / total_time, sqrt(variance) / total_time)
