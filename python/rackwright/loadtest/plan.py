"""The description of a load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rackwright.cluster.distributions import Constant, Distribution
from rackwright.cluster.loads import Bursty, Periodic, Poisson, Trace
from rackwright.loadtest.address import endpoint
from rackwright.loadtest.simulated import SimulatedServices

OpenLoop = Poisson | Periodic | Bursty | Trace
"""Arrivals that wait for no answer."""


@dataclass(frozen=True)
class Work:
    """Requests that contain their processing time, for `WorkServices` and compatible services."""

    request_bytes: int = 64

    def describe(self) -> dict[str, Any]:
        """As the engine reads it."""
        return {"kind": "work"}


@dataclass(frozen=True)
class Memcached:
    """Requests to memcached over UDP; `command` is a line without its end, for example `get key`."""

    command: str
    request_bytes: int = 0

    def describe(self) -> dict[str, Any]:
        """As the engine reads it."""
        return {"kind": "memcached", "command": self.command}


Protocol = Work | Memcached
"""The format of requests."""


@dataclass(frozen=True)
class LoadPlan:
    """`requests` requests to `targets`, each to a random one, at the times of `arrivals`.

    Targets are addresses, or simulated services.

    `work` is the requested processing time of each; `connections` is the number of sockets for each target;
    the first `warmup` requests are not in the latencies; a request without a response after `timeout_ms` is
    lost. Runs with the same `seed` make the same requests at the same times.
    """

    targets: Sequence[str] | SimulatedServices
    arrivals: OpenLoop
    work: Distribution = field(default=Constant(0.0))
    protocol: Protocol = field(default=Work())
    requests: int = 10_000
    warmup: int = 0
    connections: int = 8
    timeout_ms: float = 1000.0
    seed: int = 1

    def describe(self) -> dict[str, Any]:
        """As the engine reads it."""
        targets = self.targets
        return {
            "targets": targets.describe()
            if isinstance(targets, SimulatedServices)
            else [endpoint(target) for target in targets],
            "protocol": self.protocol.describe(),
            "arrivals": self.arrivals.describe()["arrivals"],
            "work": self.work.describe(),
            "request_bytes": self.protocol.request_bytes,
            "connections": self.connections,
            "requests": self.requests,
            "warmup": self.warmup,
            "timeout_us": self.timeout_ms * 1e3,
            "seed": self.seed,
        }
