"""When clients send requests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rackwright.cluster.distributions import Constant, Distribution

NO_PAUSE = Constant(0.0)
"""The next request at once."""


@dataclass(frozen=True)
class Poisson:
    """`rate` requests per second, with exponential intervals, independent of earlier requests."""

    rate: float

    def describe(self) -> dict[str, Any]:
        """As the engine reads it."""
        return {"kind": "open", "arrivals": {"kind": "poisson", "rate": self.rate}}


@dataclass(frozen=True)
class Periodic:
    """`rate` requests per second at equal intervals, independent of earlier requests."""

    rate: float

    def describe(self) -> dict[str, Any]:
        """As the engine reads it."""
        return {"kind": "open", "arrivals": {"kind": "periodic", "rate": self.rate}}


@dataclass(frozen=True)
class Bursty:
    """Poisson arrivals alternating between `quiet_rate` and `burst_rate` per second, for exponential times.

    These have the means `quiet_us` and `burst_us`: a Markov-modulated Poisson process of two states.
    """

    quiet_rate: float
    burst_rate: float
    quiet_us: float
    burst_us: float

    def describe(self) -> dict[str, Any]:
        """As the engine reads it."""
        return {
            "kind": "open",
            "arrivals": {
                "kind": "bursty",
                "quiet_rate": self.quiet_rate,
                "burst_rate": self.burst_rate,
                "quiet_us": self.quiet_us,
                "burst_us": self.burst_us,
            },
        }


@dataclass(frozen=True)
class Trace:
    """Requests at `times_us` microseconds after the client's start, in order."""

    times_us: Sequence[float]

    def describe(self) -> dict[str, Any]:
        """As the engine reads it."""
        return {"kind": "open", "arrivals": {"kind": "trace", "times_us": list(self.times_us)}}


@dataclass(frozen=True)
class ClosedLoop:
    """At most `outstanding` requests in flight; each response is followed by a pause of `think`."""

    outstanding: int = 1
    think: Distribution = NO_PAUSE

    def describe(self) -> dict[str, Any]:
        """As the engine reads it."""
        return {"kind": "closed", "outstanding": self.outstanding, "think": self.think.describe()}


Load = Poisson | Periodic | Bursty | Trace | ClosedLoop
"""Any of the loads."""
