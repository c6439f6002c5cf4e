"""Figure 2.7: one replica of three has three times the cores."""

from __future__ import annotations

from collections.abc import Mapping

from rackwright.cluster import LoadBalancing
from rackwright.cluster.load_balancing import SERVICE_TIMES
from rackwright.reproduce.daronpon.points import measure as measure_points
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.lines import line_chart
from rackwright.reproduce.reference import compare

CORES = (3, 1, 1)
LOADS = (0.3, 0.4, 0.45, 0.5, 0.52, 0.54, 0.56, 0.58, 0.6, 0.7, 0.8, 0.85, 0.9)
QUICK_LOADS = (0.5, 0.54, 0.58, 0.6, 0.8, 0.9)
LIMIT_US = 400.0
"""The 99th percentile up to which a load counts as carried."""
POLICIES = {"random": "client-random", "Daronpon": "daronpon"}


def carried(curve: Mapping[float, float]) -> float:
    """The highest rate with a 99th percentile within the limit."""
    return max(rate for rate, p99_us in curve.items() if p99_us <= LIMIT_US)


def measure(settings: Settings) -> Outcome:
    """Two curves, and how much more the better one carries."""
    loads = QUICK_LOADS if settings.quick else LOADS
    # Random choice gives each replica a third: those of one core are full at 60 % of all cores.
    keys = [(name, load) for name in POLICIES for load in loads if name != "random" or load < 0.6]
    service = SERVICE_TIMES["constant"]
    clusters = [LoadBalancing(POLICIES[name], service, load, cores=CORES) for name, load in keys]
    points = measure_points(clusters, settings, "daronpon-2.7")
    curves: dict[str, dict[float, float]] = {name: {} for name in POLICIES}
    for (name, _), cluster, point in zip(keys, clusters, points, strict=True):
        curves[name][cluster.rate() / 1e3] = point.p99_us
    rows = compare(
        "daronpon/figure_2_7.csv",
        {"throughput over that of random": carried(curves["Daronpon"]) / carried(curves["random"])},
    )
    lines = {name: list(curve.items()) for name, curve in curves.items()}
    chart = line_chart("one replica with three cores", "thousand requests/s", "99th percentile, us", lines)
    return Outcome(rows, [chart], [point.digest for point in points])


EXPERIMENT = Experiment(
    "daronpon-2.7",
    "One replica with three times the cores",
    "Wang 2025, section 2.5.4, figure 2.7",
    "3 racks with a replica of each of 2 services, of 3, 1 and 1 cores, constant service times. Throughput "
    "is the highest measured rate of a service with a 99th percentile of at most 400 us.",
    measure,
)
