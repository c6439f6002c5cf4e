"""Replicated services in several racks, and their clients: the system for comparing load balancers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import get_args

from rackwright.cluster.cluster import Cluster
from rackwright.cluster.dispatch import Dispatch
from rackwright.cluster.distributions import Bimodal, Constant, Distribution, Exponential
from rackwright.cluster.errors import TopologyError
from rackwright.cluster.links import Ethernet
from rackwright.cluster.loads import Load, Poisson
from rackwright.cluster.nodes import Selection, Switch, Traffic
from rackwright.cluster.policies import PolicyName

CLIENT_POLICIES = ("client-random", "client-power-of-two", "client-round-robin")
"""The client chooses, and switches only forward."""
POLICIES = (*get_args(PolicyName), *CLIENT_POLICIES, "ideal")
"""All balancers. `ideal` is one queue in front of all cores of a service, which is the bound."""

SERVICE_TIMES: dict[str, Distribution] = {
    "constant": Constant(25),
    "exponential": Exponential(25),
    "bimodal": Bimodal(short_us=13, long_us=130, long_fraction=0.1),
}
"""The service times of Wang 2025, section 2.5.2."""


@dataclass(frozen=True)
class LoadBalancing:
    """Racks below one switch, each with `replicas` of every one of `services`; clients at that switch.

    Each replica has `cores`, cycling through that list by rack. `load` is the share of all cores that work
    takes. `hop_us` is the latency from the switch in the middle to a client or to a rack: racks are 25 us
    apart in one direction, as the dispatchers of Wang 2025, section 2.7. `server_us` is the latency from a
    rack's switch to a replica. Clients and replicas themselves add no time. Every switch loses frames with
    the probability `loss`, and delays them by up to `late_us` with the probability `late`; `outages_us` has
    the start and end times of outages of a rack (`rack0`) or a replica (`server0-1-0`: service, rack,
    number). `sends` replaces each client's share of `load`; it ends after this number of `requests`.
    """

    policy: str = "daronpon"
    service: Distribution = field(default_factory=lambda: SERVICE_TIMES["exponential"])
    load: float = 0.8
    racks: int = 3
    services: int = 2
    replicas: int = 1
    clients: int = 3
    cores: Sequence[int] = (1,)
    hop_us: float = 12.5
    server_us: float = 1.0
    dispatch: Dispatch = field(default_factory=Dispatch)
    seed: int = 1
    warmup_us: float = 20_000.0
    loss: float = 0.0
    late: float = 0.0
    late_us: float = 0.0
    outages_us: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    sends: Load | None = None
    requests: int | None = None
    request_bytes: int = 64
    timeout_us: float = 1e6

    def total_cores(self) -> int:
        """The cores of each service."""
        return sum(self.cores[rack % len(self.cores)] * self.replicas for rack in range(self.racks))

    def rate(self) -> float:
        """Requests per second for each service."""
        return self.load * self.total_cores() * 1e6 / mean_us(self.service)

    def duration_ms(self, requests: int) -> float:
        """The simulated time in which all clients together send this number of requests after the warm-up."""
        return self.warmup_us / 1e3 + requests / (self.rate() * self.services) * 1e3

    def cluster(self) -> Cluster:
        """The cluster. Raises `TopologyError` for a policy that is not in `POLICIES`."""
        if self.policy not in POLICIES:
            raise TopologyError(f"no policy is called {self.policy!r}; there are {', '.join(POLICIES)}")
        core = Switch("core", loss=self.loss, late=self.late, late_us=self.late_us)
        hop = Ethernet(gbps=200, latency_us=self.hop_us)
        by_service: list[list[Traffic]] = [[] for _ in range(self.services)]
        for rack in range(self.racks):
            name = f"rack{rack}"
            top = Switch(
                name,
                dispatch=self._dispatch(),
                loss=self.loss,
                late=self.late,
                late_us=self.late_us,
                outages_us=self._outages(name),
            )
            core.connect(top, hop)
            for service, replicas in enumerate(by_service):
                for replica in self._replicas(rack, service):
                    top.connect(replica, Ethernet(gbps=200, latency_us=self.server_us))
                    replicas.append(replica)
        for service, replicas in enumerate(by_service):
            for number in range(self.clients):
                core.connect(self._client(f"client{service}-{number}", replicas), hop)
        cluster = Cluster(core, seed=self.seed, warmup_us=self.warmup_us)
        unknown = set(self.outages_us) - {node["name"] for node in cluster.topology.description["nodes"]}
        if unknown:
            raise TopologyError(f"outages_us of `{min(unknown)}`: no rack or replica is called so")
        return cluster

    def _dispatch(self) -> Dispatch | None:
        if self.policy == "ideal" or self.policy in CLIENT_POLICIES:
            return None
        return replace(self.dispatch, policy=self.policy)  # type: ignore[arg-type]

    def _replicas(self, rack: int, service: int) -> list[Traffic]:
        if self.policy == "ideal":
            together = [self.total_cores()] if rack == 0 else []
        else:
            together = [self.cores[rack % len(self.cores)]] * self.replicas
        return [
            Traffic(
                name := f"server{service}-{rack}-{number}",
                service=self.service,
                cores=cores,
                service_id=service,
                outages_us=self._outages(name),
            )
            for number, cores in enumerate(together)
        ]

    def _outages(self, name: str) -> list[tuple[float, float]]:
        return [self.outages_us[name]] if name in self.outages_us else []

    def _client(self, name: str, replicas: list[Traffic]) -> Traffic:
        selections: dict[str, Selection] = {
            "client-power-of-two": "power-of-two",
            "client-round-robin": "round-robin",
        }
        return Traffic(
            name,
            sends=self.sends or Poisson(self.rate() / self.clients),
            to=replicas,
            request_bytes=self.request_bytes,
            requests=self.requests,
            selection=selections.get(self.policy, "random"),
            timeout_us=self.timeout_us,
        )


def mean_us(service: Distribution) -> float:
    """The mean of a distribution."""
    if isinstance(service, Constant):
        return service.us
    if isinstance(service, Bimodal):
        return service.short_us * (1 - service.long_fraction) + service.long_us * service.long_fraction
    if hasattr(service, "mean_us"):
        return float(service.mean_us)
    weights = service.weights or [1.0] * len(service.values_us)
    return sum(value * weight for value, weight in zip(service.values_us, weights, strict=True)) / sum(
        weights
    )
