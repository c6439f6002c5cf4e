"""Switches that dispatch requests among the replicas of services in several racks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from rackwright.cluster.errors import TopologyError

Policy = Literal[
    "daronpon",
    "shortest-queue",
    "rack-local",
    "random",
    "round-robin",
    "power-of-two",
    "bounded-queue",
    "racksched",
]
"""How a dispatching switch chooses; see `Dispatch`."""

_PLAIN = {
    "shortest-queue": "shortest-queue",
    "rack-local": "rack-local",
    "random": "random",
    "round-robin": "round-robin",
    "power-of-two": "power-of-two",
    "racksched": "rack-sched",
}


@dataclass(frozen=True)
class Dispatch:
    """What makes a switch dispatch the requests for services right below it.

    `policy` is `daronpon` (the least loaded rack it knows of; `gossip` and `piggyback` switch its two
    ways of learning off), `shortest-queue` (the same, told of every change), `rack-local`, `random`,
    `round-robin`, `power-of-two`, `bounded-queue` (at most `bound` requests a core, the others wait in
    the switch) or `racksched` (the better of two in the rack). A load is told to others when it crosses a
    power of two and is at least `gossip_floor` and its own moving average, which follows by one part in
    two to the `average_shift`. A request is redirected when another rack has fewer requests for each core
    by more than `load_delta`, or, without one, by more than what is known of others is usually wrong.
    `engine/crates/dispatch` says more.
    """

    policy: Policy = "daronpon"
    gossip: bool = True
    piggyback: bool = True
    bound: int = 2
    gossip_floor: int = 4
    average_shift: int = 8
    load_delta: float | None = None
    max_redirects: int = 1
    expiry_us: float = 8000.0
    truth_interval_us: float = 2000.0
    peer_timeout_us: float = 7000.0
    probe_interval_us: float = 1000.0

    def describe(self) -> dict[str, Any]:
        """As the engine reads it."""
        return {
            "policy": self._policy(),
            "gossip_floor": self.gossip_floor,
            "average_shift": self.average_shift,
            "load_delta": "adaptive" if self.load_delta is None else {"fixed": self.load_delta},
            "max_redirects": self.max_redirects,
            "expiry_us": self.expiry_us,
            "truth_interval_us": self.truth_interval_us,
            "peer_timeout_us": self.peer_timeout_us,
            "probe_interval_us": self.probe_interval_us,
        }

    def _policy(self) -> Any:
        if self.policy == "daronpon":
            return {"daronpon": {"gossip": self.gossip, "piggyback": self.piggyback}}
        if self.policy == "bounded-queue":
            return {"bounded-queue": {"bound": self.bound}}
        if self.policy not in _PLAIN:
            known = ", ".join(["daronpon", "bounded-queue", *_PLAIN])
            raise TopologyError(
                f"no policy of a dispatching switch is called {self.policy!r}; there are {known}"
            )
        return _PLAIN[self.policy]
