"""Figure 2.4: the amount of gossip over its threshold."""

from __future__ import annotations

from rackwright.cluster import Dispatch, LoadBalancing
from rackwright.cluster.load_balancing import SERVICE_TIMES
from rackwright.reports.plots import line_chart
from rackwright.reproduce.daronpon.points import measure as measure_points
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.reference import compare

LOAD = 0.7
THRESHOLDS = (0, 1, 2, 3, 4, 5, 6, 8)
STATED = (0, 1, 4, 5)


def _cluster(threshold: int) -> LoadBalancing:
    """All racks but the least loaded one redirect, as in section 2.3.2."""
    dispatch = Dispatch(gossip_floor=threshold, load_delta=0.0)
    return LoadBalancing(service=SERVICE_TIMES["constant"], load=LOAD, dispatch=dispatch)


def measure(settings: Settings) -> Outcome:
    """A point for each threshold."""
    points = measure_points([_cluster(threshold) for threshold in THRESHOLDS], settings, "daronpon-2.4")
    by_threshold = dict(zip(THRESHOLDS, points, strict=True))
    rows = compare(
        "daronpon/figure_2_4.csv",
        {f"gossip of all messages, threshold {at}": by_threshold[at].gossip_of_traffic for at in STATED}
        | {f"requests that cause gossip, threshold {at}": by_threshold[at].caused_gossip for at in STATED}
        | {"redirected requests, threshold 4": by_threshold[4].redirected},
    )
    lines = {
        "gossip, of all messages": [(at, point.gossip_of_traffic) for at, point in by_threshold.items()],
        "requests that cause gossip": [(at, point.caused_gossip) for at, point in by_threshold.items()],
    }
    chart = line_chart("gossip by threshold", "requests under way", "%", lines)
    return Outcome(rows, [chart], [point.digest for point in points])


EXPERIMENT = Experiment(
    "daronpon-2.4",
    "Gossip by threshold",
    "Wang 2025, section 2.3.3, figure 2.4",
    "3 racks with a replica of each of 2 services, constant service times, all cores 70 % busy.",
    measure,
)
