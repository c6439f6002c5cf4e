"""Switches that dispatch requests among the replicas of services in several racks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from rackwright.cluster.errors import TopologyError
from rackwright.cluster.policies import PolicyName, describe_policy
from rackwright.hardware.designs import always_asserted, elaborate


@dataclass(frozen=True)
class Dispatch:
    """Makes a switch dispatch the requests for services directly below it.

    `policy` is `daronpon` (the least loaded known rack; `gossip` and `piggyback` enable its two sources of
    information), `shortest-queue` (the same, informed of every change), `rack-local`, `random`,
    `round-robin`, `power-of-two`, `bounded-queue` (at most `bound` requests a core, the others wait in the
    switch) or `rack-sched` (the better of two in the rack). A load is reported to other racks when it crosses
    a power of two and is at least `gossip_floor` and its own moving average, which has the weight one in two
    to the `average_shift`. A request is redirected if another rack has fewer requests per core by more than
    `load_delta`, or, without it, by more than the usual error of the known loads.
    `engine/crates/network/dispatch` has the details.

    Up to `tracked` requests, a power of two, can be counted in flight in the rack. With the fidelity `rtl` of
    its switch, the unit `daronpon` decides, elaborated with `unit_parameters`; it has no policy that draws
    randomly or lets requests wait.
    """

    policy: PolicyName = "daronpon"
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
    tracked: int = 1 << 14
    unit_parameters: Mapping[str, int] = field(default_factory=dict, hash=False)

    def describe(self, design: str | None = None) -> dict[str, Any]:
        """As the engine reads it; `design` is the name of the unit that decides, if one does."""
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
            "tracked": self.tracked,
            "design": design,
        }

    def unit(self) -> Path:
        """The manifest of the unit for this configuration, elaborated if necessary."""
        parameters = {"flights": self.tracked, **self.unit_parameters}
        return elaborate("daronpon", parameters, assertions=always_asserted("daronpon"))

    def _policy(self) -> Any:
        known = get_args(PolicyName)
        if self.policy not in known:
            raise TopologyError(
                f"no policy of a dispatching switch is called {self.policy!r}; there are {', '.join(known)}"
            )
        return describe_policy(self.policy, bound=self.bound, gossip=self.gossip, piggyback=self.piggyback)
