"""Figure 2.7: one replica of three has several times the cores."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from rackwright.cluster import LoadBalancing
from rackwright.cluster.load_balancing import SERVICE_TIMES
from rackwright.reports.plots import line_chart
from rackwright.reproduce.daronpon.points import FEW_REQUESTS
from rackwright.reproduce.daronpon.points import measure as measure_points
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.reference import compare

CORES = {"one": (1, 1, 1), "twice": (2, 1, 1), "three times": (3, 1, 1)}
SHARES = (0.5, 0.6, 0.7, 0.75, 0.8, 0.84, 0.87, 0.9, 0.92, 0.94, 0.96, 0.98)
"""Fractions of a policy's capacity."""
QUICK_SHARES = (0.5, 0.7, 0.8, 0.87, 0.92, 0.96)
LIMITS_US = (400.0, 600.0, 1000.0)
"""99th percentiles up to which a load counts as carried. The text names none."""
POLICIES = {"random": "client-random", "Daronpon": "daronpon"}


def carried(curve: Mapping[float, float], limit_us: float) -> float:
    """The rate at which the 99th percentile reaches a limit, between the rates measured below and above."""
    for (low, low_us), (high, high_us) in pairwise(sorted(curve.items())):
        if low_us <= limit_us < high_us:
            return low + (high - low) * (limit_us - low_us) / (high_us - low_us)
    return max(curve)


def measure(settings: Settings) -> Outcome:
    """Two curves for each number of cores, and the ratio of their capacities."""
    shares = QUICK_SHARES if settings.quick else SHARES
    keys = [(name, times, share) for times in CORES for name in POLICIES for share in shares]
    clusters = [_cluster(*key) for key in keys]
    points = measure_points(clusters, settings, "daronpon-2.7", FEW_REQUESTS)
    curves: dict[tuple[str, str], dict[float, float]] = {key[:2]: {} for key in keys}
    for (name, times, _), cluster, point in zip(keys, clusters, points, strict=True):
        curves[name, times][cluster.rate() / 1e3] = point.p99_us

    def over(times: str, limit_us: float, other: tuple[str, str]) -> float:
        return carried(curves["Daronpon", times], limit_us) / carried(curves[other], limit_us)

    measured = {}
    for times in list(CORES)[1:]:
        for limit_us in LIMITS_US:
            where = f"{times}, {limit_us:g} us"
            measured[f"throughput over that of random, {where}"] = over(times, limit_us, ("random", times))
        same = over(times, LIMITS_US[0], ("Daronpon", "one"))
        measured[f"throughput over that of equal replicas, {times}"] = same
    rows = compare("daronpon/figure_2_7.csv", measured)
    lines = {f"{name}, {times}": list(curve.items()) for (name, times), curve in curves.items()}
    chart = line_chart("one replica with more cores", "thousand requests/s", "99th percentile, us", lines)
    return Outcome(rows, [chart], [point.digest for point in points])


def _cluster(name: str, times: str, share: float) -> LoadBalancing:
    cores = CORES[times]
    # Random choice sends each replica a third: replicas with one core are saturated when each has one core's
    # work.
    full = len(cores) / sum(cores) if name == "random" else 1.0
    return LoadBalancing(POLICIES[name], SERVICE_TIMES["constant"], share * full, cores=cores)


EXPERIMENT = Experiment(
    "daronpon-2.7",
    "One replica with several times the cores",
    "Wang 2025, section 2.5.4, figure 2.7",
    "3 racks with a replica of each of 2 services, of 2 or 3, 1 and 1 cores, constant service times. "
    "Throughput is the rate of a service at which the 99th percentile reaches the limit. The text says three "
    "times as many cores where it describes the servers, and twice where it describes the figure.",
    measure,
)
