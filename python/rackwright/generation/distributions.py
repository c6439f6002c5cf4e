"""Distributions over powers of two and over values, weighted by bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True)
class SizeBin:
    """The calls whose uncompressed size is in (2^(log2-1), 2^log2].

    `calls` and `total_bytes` are in any unit, the same for all bins of a distribution.
    """

    log2: int
    calls: float
    total_bytes: float

    @property
    def least(self) -> int:
        """The smallest size, in bytes."""
        return 1 if self.log2 == 0 else (1 << (self.log2 - 1)) + 1

    @property
    def most(self) -> int:
        """The largest size, in bytes."""
        return 1 << self.log2

    @property
    def mean(self) -> float:
        """Bytes per call."""
        return self.total_bytes / self.calls


def bin_of(size: int) -> int:
    """The power of two that bounds a size from above."""
    return max(size - 1, 0).bit_length()


def cumulative(weights: Mapping[int, float]) -> dict[int, float]:
    """The share of the total at or below each key, in the order of keys."""
    total = sum(weights.values())
    keys = sorted(weights)
    sums = accumulate(weights[key] for key in keys)
    return {key: running / total for key, running in zip(keys, sums, strict=True)}


def largest_gap(asked: Mapping[int, float], achieved: Mapping[int, float]) -> float:
    """The largest difference between two cumulative distributions, 0 to 1 (Kolmogorov, Smirnov)."""
    keys = sorted(set(asked) | set(achieved))
    curves = [cumulative({key: weights.get(key, 0.0) for key in keys}) for weights in (asked, achieved)]
    return max(abs(curves[0][key] - curves[1][key]) for key in keys)


def quantile(values: Sequence[float], share: float) -> float:
    """The value at `share` (0 to 1) of equally heavy `values`, which ascend."""
    return values[min(int(share * len(values)), len(values) - 1)]


def aggregate_ratio(pairs: Sequence[tuple[float, float]]) -> float:
    """All uncompressed over all compressed bytes, from pairs (uncompressed bytes, ratio)."""
    return sum(size for size, _ in pairs) / sum(size / ratio for size, ratio in pairs)
