"""Distributions of durations in microseconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Constant:
    """Always `us` microseconds."""

    us: float

    def describe(self) -> dict[str, Any]:
        """As the engine reads it."""
        return {"kind": "constant", "us": self.us}


@dataclass(frozen=True)
class Exponential:
    """Exponential with the mean `mean_us` and the minimum `minimum_us`."""

    mean_us: float
    minimum_us: float = 0.0

    def describe(self) -> dict[str, Any]:
        """As the engine reads it."""
        return {"kind": "exponential", "mean_us": self.mean_us, "minimum_us": self.minimum_us}


@dataclass(frozen=True)
class Bimodal:
    """`long_us` with the probability `long_fraction`, else `short_us`."""

    short_us: float
    long_us: float
    long_fraction: float

    def describe(self) -> dict[str, Any]:
        """As the engine reads it."""
        return {
            "kind": "bimodal",
            "short_us": self.short_us,
            "long_us": self.long_us,
            "long_fraction": self.long_fraction,
        }


@dataclass(frozen=True)
class LogNormal:
    """Log-normal with the mean `mean_us`; `sigma` is the standard deviation of the logarithm."""

    mean_us: float
    sigma: float

    def describe(self) -> dict[str, Any]:
        """As the engine reads it."""
        return {"kind": "log_normal", "mean_us": self.mean_us, "sigma": self.sigma}


@dataclass(frozen=True)
class Empirical:
    """One of `values_us`, with relative `weights`; without them, all with equal probability."""

    values_us: Sequence[float]
    weights: Sequence[float] = ()

    def describe(self) -> dict[str, Any]:
        """As the engine reads it."""
        return {"kind": "empirical", "values_us": list(self.values_us), "weights": list(self.weights)}


Distribution = Constant | Exponential | Bimodal | LogNormal | Empirical
"""Any of the distributions."""
