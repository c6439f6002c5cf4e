"""One point of a curve: a load, a policy, and the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bootstrap.jobs import side_by_side
from rackwright.cluster import ClusterResult, LoadBalancing
from rackwright.reproduce.experiment import Settings

REQUESTS, QUICK_REQUESTS = 1_000_000, 200_000
FEW_REQUESTS = 100_000
"""Enough for a quick run where limits are not close."""


@dataclass(frozen=True)
class Point:
    """A latency, and shares of the requests of clients, in percent.

    These are requests that caused gossip, messages of gossip (for each informed rack, and at intervals), and
    requests redirected to another rack. `gossip_of_traffic` is the percentage of gossip in all messages,
    where gossip to several racks counts once, as from a switch that multicasts.
    """

    p99_us: float
    caused_gossip: float
    messages: float
    redirected: float
    gossip_of_traffic: float
    digest: str


def measure(
    clusters: Sequence[LoadBalancing], settings: Settings, name: str, quick_requests: int = QUICK_REQUESTS
) -> list[Point]:
    """Runs them in parallel, because they are independent."""
    requests = quick_requests if settings.quick else REQUESTS
    done = _counter(len(clusters), name, settings)

    def run(one: LoadBalancing) -> Point:
        point = _point(one.cluster().run(one.duration_ms(requests), threads=1))
        done()
        return point

    return side_by_side(run, clusters)


def _counter(total: int, name: str, settings: Settings) -> Callable[[], None]:
    finished: list[None] = []

    def done() -> None:
        finished.append(None)
        settings.detail(f"{name}: {len(finished)} of {total} points")

    return done


def _point(result: ClusterResult) -> Point:
    counts = result.switches.filter(like="dispatch_").sum()
    requests = counts.get("dispatch_requests", 0)

    def share(*names: str) -> float:
        return float(100 * sum(counts[f"dispatch_{name}"] for name in names) / requests) if requests else 0.0

    return Point(
        result.latency["p99_us"],
        share("doubled"),
        share("gossip", "truths"),
        share("redirected"),
        _of_traffic(share("doubled", "halved")),
        result.digest,
    )


def _of_traffic(gossip: float) -> float:
    """The percentage of these gossip messages per hundred requests in requests, responses and gossip."""
    return 100 * gossip / (200 + gossip)
