"""Figure 2.5: gossip and piggyback, each alone."""

from __future__ import annotations

from dataclasses import replace

from rackwright.cluster import Dispatch, LoadBalancing
from rackwright.cluster.load_balancing import SERVICE_TIMES
from rackwright.reports.plots import line_chart
from rackwright.reproduce.daronpon.points import FEW_REQUESTS
from rackwright.reproduce.daronpon.points import measure as measure_points
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.reference import compare

LOADS = (0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.825, 0.85, 0.875, 0.9)
QUICK_LOADS = (0.5, 0.875)
LOW, HIGH = 0.5, 0.875
MECHANISMS = {
    "random": LoadBalancing(policy="client-random"),
    "gossip": LoadBalancing(dispatch=Dispatch(piggyback=False)),
    "piggyback": LoadBalancing(dispatch=Dispatch(gossip=False)),
    "both": LoadBalancing(),
}


def measure(settings: Settings) -> Outcome:
    """A curve for each mechanism."""
    loads = QUICK_LOADS if settings.quick else LOADS
    service = SERVICE_TIMES["constant"]
    clusters = [replace(each, service=service, load=load) for each in MECHANISMS.values() for load in loads]
    points = measure_points(clusters, settings, "daronpon-2.5", FEW_REQUESTS)
    keys = [(name, load) for name in MECHANISMS for load in loads]
    p99 = {key: point.p99_us for key, point in zip(keys, points, strict=True)}
    rows = compare(
        "daronpon/figure_2_5.csv",
        {
            f"99th percentile over that of random, {name}, {where} load": p99[name, load]
            / p99["random", load]
            for where, load in (("low", LOW), ("high", HIGH))
            for name in ("gossip", "piggyback", "both")
        },
    )
    lines = {name: [(100 * load, p99[name, load]) for load in loads] for name in MECHANISMS}
    chart = line_chart("gossip and piggyback apart", "load, %", "99th percentile, us", lines)
    return Outcome(rows, [chart], [point.digest for point in points])


EXPERIMENT = Experiment(
    "daronpon-2.5",
    "Gossip and piggyback apart",
    "Wang 2025, section 2.3.4, figure 2.5",
    "As daronpon-2.4, over loads; low is 50 %, high is 87.5 %: 105 of 120 thousand requests per second.",
    measure,
)
