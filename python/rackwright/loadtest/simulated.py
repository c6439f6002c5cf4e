"""The same load on simulated services: replicas in racks, and the policy that selects them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rackwright.cluster.dispatch import Dispatch
from rackwright.cluster.loads import Bursty, Trace
from rackwright.errors import RackwrightError
from rackwright.loadtest.result import LoadLatency, LoadResult

if TYPE_CHECKING:
    from rackwright.loadtest.plan import LoadPlan

_LOOKS = 50
"""The interval at which completion of all requests is checked while requests are sent."""

_SHORTEST_US = 1000.0
"""The interval between two checks."""

_CLIENT = "client0-0"
"""The client's name in the cluster of `LoadBalancing`."""

_LATENCIES = ("p50", "p90", "p95", "p99", "p999", "max")


@dataclass(frozen=True)
class SimulatedServices:
    """`replicas` of one service in each of `racks`, with `cores` each, in a simulated network.

    `policy` is one of `rackwright.cluster.load_balancing.POLICIES`, and `dispatch` the configuration of its
    dispatchers. The latency from the switch in the middle to a rack or to the client is `hop_us`, that from a
    rack's switch to a replica `server_us`.
    """

    policy: str = "daronpon"
    racks: int = 3
    replicas: int = 1
    cores: int = 1
    hop_us: float = 12.5
    server_us: float = 1.0
    dispatch: Dispatch = field(default_factory=Dispatch)

    def describe(self) -> dict[str, Any]:
        """Their description in a report."""
        names = ("policy", "racks", "replicas", "cores", "hop_us", "server_us")
        return {name: getattr(self, name) for name in names}


def simulate_load(
    services: SimulatedServices, plan: LoadPlan, tell: Callable[[int], None] | None = None
) -> LoadResult:
    """Sends the load of `plan` to simulated services until each request has a response or is lost.

    The client never sends late, so that both latencies are equal, and no request is refused. The warm-up ends
    when on average as many requests are due. Equal plans have equal results. Raises `RackwrightError` for
    plans that cannot be simulated.
    """
    from rackwright.cluster.load_balancing import LoadBalancing
    from rackwright.loadtest.plan import Work

    if not isinstance(plan.protocol, Work):
        raise RackwrightError("simulated services do the work that requests ask for, and speak no memcached")
    if plan.timeout_ms <= 0:
        raise RackwrightError(
            f"{plan.timeout_ms * 1e3:g} us is not a time after which a request counts as lost"
        )
    balancing = LoadBalancing(
        policy=services.policy,
        service=plan.work,
        racks=services.racks,
        services=1,
        replicas=services.replicas,
        clients=1,
        cores=(services.cores,),
        hop_us=services.hop_us,
        server_us=services.server_us,
        dispatch=services.dispatch,
        seed=plan.seed,
        warmup_us=_due_us(plan, plan.warmup),
        sends=plan.arrivals,
        requests=plan.requests,
        request_bytes=plan.protocol.request_bytes,
        timeout_us=plan.timeout_ms * 1e3,
    )
    cluster = balancing.cluster()
    slice_us = max(_due_us(plan, plan.requests) / _LOOKS, _SHORTEST_US)
    machine, slice_cycles = cluster.machine(), round(slice_us * 1e-6 * cluster.clock_hz)
    expected = len(plan.arrivals.times_us) if isinstance(plan.arrivals, Trace) else plan.requests
    while True:
        machine.run(machine.cycle + slice_cycles)
        report = json.loads(machine.client(_CLIENT))
        if tell is not None:
            tell(report["sent"])
        if report["answered"] + report["lost"] == min(expected, plan.requests):
            return _result(report, cluster.clock_hz / 1e6)


def _due_us(plan: LoadPlan, count: int) -> float:
    """The average due time of the request with this number."""
    arrivals = plan.arrivals
    if isinstance(arrivals, Trace):
        times = arrivals.times_us
        return times[count] if count < len(times) else times[-1] + 1.0
    if isinstance(arrivals, Bursty):
        work = arrivals.quiet_rate * arrivals.quiet_us + arrivals.burst_rate * arrivals.burst_us
        rate = work / (arrivals.quiet_us + arrivals.burst_us)
    else:
        rate = arrivals.rate
    if not rate > 0:
        raise RackwrightError(f"{rate:g} is not a number of requests per second")
    return count / rate * 1e6


def _result(report: dict[str, Any], cycles_per_us: float) -> LoadResult:
    latency = report["latency"]
    times = {f"{name}_us": latency[name] / cycles_per_us for name in _LATENCIES}
    measured = LoadLatency(count=latency["count"], mean_us=latency["mean"] / cycles_per_us, **times)
    never_late = LoadLatency(measured.count, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    sending = (report["last_sent"] - report["first_sent"]) / cycles_per_us / 1e6
    seconds = max(0, report["last_answer"] - report["first_sent"]) / cycles_per_us / 1e6
    return LoadResult(
        sent=report["sent"],
        answered=report["answered"],
        lost=report["lost"],
        late=report["late"],
        malformed=0,
        refused=0,
        seconds=seconds,
        offered_per_second=(report["sent"] - 1) / sending if sending else 0.0,
        answered_per_second=report["answered"] / seconds if seconds else 0.0,
        latency=measured,
        latency_from_send=measured,
        send_delay=never_late,
        buckets=[(cycles / cycles_per_us, count) for cycles, count in report["buckets"]],
    )
