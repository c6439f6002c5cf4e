"""Which calls of a large suite are measured, and how exact the result is.

A suite's speed is all its bytes over all its time. Most time is that of few large calls, most calls are
small. Calls are drawn with replacement, with a chance that grows as the square root of their size: by size
alone, nearly all simulated time would go to the largest few calls; evenly, they would hardly be drawn.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil, sqrt
from random import Random

import numpy as np

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
    """The sum of a quantity over all calls of a suite, and its standard error relative to that."""

    total: float
    standard_error: float


class Regression:
    """Estimates sums over all calls of a suite from a sample, by what is known of every call.

    The size and the compressed size of each call stand in the suite's list. A model that is linear in both
    and has a cost per call is fitted to the sample; the estimate is the model's sum over all calls and the
    weighted mean of what it misses in the sample (Cochran 1977, sections 7.1 to 7.3 and 9A; with weights, the
    generalised regression estimator of Saerndal, Swensson and Wretman 1992, section 6.4). The standard
    error is that of the misses, which is several times smaller than that of the quantity itself.
    """

    def __init__(self, known: Sequence[tuple[int, int]], chances: Sequence[float]) -> None:
        """`known` are size and compressed size of every call, `chances` those of being drawn."""
        self._known = np.array([(1.0, size, packed) for size, packed in known])
        self._scale = self._known.mean(axis=0)
        self._known /= self._scale
        self._sums = self._known.sum(axis=0)
        self._spread = np.array([size + _OVERHEAD_BYTES for size, _ in known], dtype=float)
        self._chances = np.array(chances)

    def total(self, draws: Sequence[tuple[int, float]]) -> Estimate:
        """The sum of a quantity of which `draws` (call, quantity) were made with the chances."""
        calls = np.array([call for call, _ in draws])
        found = np.array([quantity for _, quantity in draws])
        weights = 1 / self._chances[calls] / len(draws)
        known, spread = self._known[calls], self._spread[calls]
        # Least squares, each call weighted by the calls that it stands for and by how exact it is.
        moments = np.linalg.pinv((known.T * (weights / spread)) @ known)
        fitted = moments @ (known.T @ (weights / spread * found))
        missed = found - known @ fitted
        total = float(self._sums @ fitted + weights @ missed)
        # A call counts for more or less than its weight where the sample's known sums miss the suite's.
        gains = 1 + (self._sums - weights @ known) @ moments @ (known / spread[:, np.newaxis]).T
        free = max(len(draws) - known.shape[1], 1)
        variance = float(np.sum((weights * gains * missed) ** 2)) * len(draws) / free
        return Estimate(total, sqrt(variance) / total)
