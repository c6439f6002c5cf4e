"""Selection of the measured calls of a large suite, and the accuracy of the result.

A suite's speed is all its bytes over all its time. Most time is that of few large calls, most calls are
small. Calls are drawn with a chance that grows as the square root of their size: by size alone, nearly all
simulated time would go to the largest few calls; evenly, they would hardly be drawn. No call is drawn twice,
so that all of the largest are soon included, and their contribution is exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf, sqrt
from random import Random

import numpy as np

_OVERHEAD_BYTES = 1024
"""A call's fixed cost, as bytes: even empty calls take time."""

PORTION_CALLS = 16
"""Calls that are drawn, measured and stored together; the last portion may have fewer."""

FIRST_PORTIONS = 2

_MOST_GROWTH = 4

_LEAST_ALONE = 1e-3
"""A call that would determine the model alone is not omitted; this limits rounding errors for it."""

Chances = np.ndarray[tuple[int], np.dtype[np.float64]]
"""The chance of every call of a suite to be in a sample."""


class Sample:
    """All calls of `sizes` bytes in the order in which they are drawn; the same for the same seed.

    Priority sampling (Duffield, Lund and Thorup 2007): a call's rank is a random number over its weight, and
    the calls with the lowest ranks are drawn. Given the rank of the first call not drawn, each other call was
    drawn independently, with a known probability.
    """

    def __init__(self, sizes: Sequence[int], seed: int) -> None:
        self._weights = np.sqrt(np.array(sizes, dtype=float) + _OVERHEAD_BYTES)
        random = Random(f"sample/{seed}")
        ranks = [random.random() / weight for weight in self._weights]
        self.order = sorted(range(len(sizes)), key=ranks.__getitem__)
        self._ranks = [ranks[call] for call in self.order]
        self.portions = ceil(len(sizes) / PORTION_CALLS)

    def portion(self, number: int) -> tuple[int, ...]:
        """The calls of a portion."""
        return tuple(self.order[number * PORTION_CALLS : (number + 1) * PORTION_CALLS])

    def chances(self, portions: int) -> Chances:
        """The chance of every call to be in the first `portions`."""
        drawn = portions * PORTION_CALLS
        threshold = self._ranks[drawn] if drawn < len(self._ranks) else inf
        chances: Chances = np.minimum(1, self._weights * threshold)
        return chances


def portions_needed(done: int, error: float, wanted: float) -> int:
    """The number of portions needed for the error `wanted`, if `done` of them have the error `error`."""
    if error <= wanted:
        return done
    return max(done + 1, min(ceil(done * (error / wanted) ** 2), _MOST_GROWTH * done))


@dataclass(frozen=True)
class Estimate:
    """The sum of a quantity over all calls of a suite, and its standard error relative to that.

    `inherited` is the part of the error that stays however many more calls are measured.
    """

    total: float
    standard_error: float
    inherited: float = 0.0

    def portions_needed(self, done: int, wanted: float) -> int:
        """Like that function, for the part reduced by more portions; `inherited` is below `wanted`."""

        def own(error: float) -> float:
            return sqrt(max(error**2 - self.inherited**2, 0))

        return portions_needed(done, own(self.standard_error), own(wanted))


@dataclass(frozen=True)
class Pilot:
    """The same quantity at another point, of every call that is measured here too, and its estimated sum."""

    quantities: Mapping[int, float]
    estimate: Estimate


class Regression:
    """Estimates sums over all calls of a suite from a sample, using data known for every call.

    The size and the compressed size of each call are in the suite's list. A model that is linear in both and
    has a cost per call is fitted to the sample; the estimate is the model's sum over all calls plus the
    weighted mean of its residuals in the sample (Cochran 1977, sections 7.1 to 7.3 and 9A; with weights, the
    generalised regression estimator of Saerndal, Swensson and Wretman 1992, section 6.4). The standard error
    is that of the misses, which is several times smaller than that of the quantity itself.

    A pilot is an additional known variable, for the sample's calls, and for all calls as an estimate from a
    larger sample (two-phase sampling; the same book, section 9.7): then few calls suffice to measure the
    difference of two points.
    """

    def __init__(self, known: Sequence[tuple[int, int]]) -> None:
        """`known` are size and compressed size of every call."""
        self._known = np.array([(1.0, size, packed) for size, packed in known])
        self._scale = self._known.mean(axis=0)
        self._known /= self._scale
        self._sums = self._known.sum(axis=0)
        self._spread = np.array([size + _OVERHEAD_BYTES for size, _ in known], dtype=float)

    def total(self, found: Mapping[int, float], chances: Chances, pilot: Pilot | None = None) -> Estimate:
        """The sum of a quantity that was `found` of calls drawn with the chances, each once."""
        calls = np.array(list(found))
        quantities = np.array(list(found.values()))
        drawn = chances[calls]
        weights, spread = 1 / drawn, self._spread[calls]
        known, sums = self._known[calls], self._sums
        if pilot is not None:
            scale = pilot.estimate.total / len(self._known)
            known = np.column_stack((known, [pilot.quantities[call] / scale for call in found]))
            sums = np.append(sums, len(self._known))
        # Least squares, each call weighted by the number of calls that it represents and by its accuracy.
        moments = np.linalg.pinv((known.T * (weights / spread)) @ known)
        fitted = moments @ (known.T @ (weights / spread * quantities))
        missed = quantities - known @ fitted
        total = float(sums @ fitted + weights @ missed)
        # A call counts for more or less than its weight if the sample's known sums differ from the suite's.
        gains = 1 + (sums - weights @ known) @ moments @ (known / spread[:, np.newaxis]).T
        # The model was fitted to the calls that it misses: as far as each decided it, it would have missed
        # more (MacKinnon and White 1985).
        alone = 1 - np.einsum("ij,jk,ik->i", known, moments, known) * weights / spread
        misses = weights * gains * missed / np.maximum(alone, _LEAST_ALONE)
        variance = float(np.sum((1 - drawn) * misses**2))
        if pilot is None:
            return Estimate(total, sqrt(variance) / total)
        inherited = abs(float(fitted[-1] * sums[-1])) * pilot.estimate.standard_error
        return Estimate(total, sqrt(variance + inherited**2) / total, inherited / total)
