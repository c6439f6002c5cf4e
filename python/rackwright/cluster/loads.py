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
    """`rate` requests per second, with exponential gaps, whatever happens to earlier ones."""

    rate: float

    def describe(self) -> dict[str, Any]:
        """As the engine reads it."""
        return {"kind": "open", "arrivals": {"kind": "poisson", "rate": self.rate}}


@dataclass(frozen=True)
class Periodic:
    """`rate` requests per second, evenly, whatever happens to earlier ones."""

    rate: float

    def describe(self) -> dict[str, Any]:
        """As the engine reads it."""
        return {"kind": "open", "arrivals": {"kind": "periodic", "rate": self.rate}}


@dataclass(frozen=True)
class Trace:
    """Requests at `times_us` microseconds after the client's start, in order."""

    times_us: Sequence[float]

    def describe(self) -> dict[str, Any]:
        """As the engine reads it."""
        return {"kind": "open", "arrivals": {"kind": "trace", "times_us": list(self.times_us)}}


@dataclass(frozen=True)
class ClosedLoop:
    """At most `outstanding` requests under way; after an answer, a pause of `think`, then the next."""

    outstanding: int = 1
    think: Distribution = NO_PAUSE

    def describe(self) -> dict[str, Any]:
        """As the engine reads it."""
        return {"kind": "closed", "outstanding": self.outstanding, "think": self.think.describe()}


Load = Poisson | Periodic | Trace | ClosedLoop
"""Any of the loads."""
