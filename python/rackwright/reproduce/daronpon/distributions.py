"""Figure 2.6: 99th percentiles over load for three distributions of service times."""

from __future__ import annotations

from rackwright.cluster import LoadBalancing
from rackwright.cluster.load_balancing import SERVICE_TIMES
from rackwright.reports.plots import line_chart
from rackwright.reproduce.daronpon.points import measure as measure_points
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.reference import compare

LOADS = (0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)
QUICK_LOADS = (0.8, 0.9)
HIGHEST, MEDIUM = 0.9, 0.8
POLICIES = {
    "random": "client-random",
    "power-of-two": "client-power-of-two",
    "Daronpon": "daronpon",
    "ideal queue": "ideal",
}

Percentiles = dict[tuple[str, str, float], float]
"""99th percentiles by distribution, policy and load."""


def quantities(p99: Percentiles) -> dict[str, float]:
    """The statements of the text about the figure."""
    found: dict[str, float] = {}
    ordered, best = 0, 0.0
    for service in SERVICE_TIMES:
        random, two, ours = (p99[service, name, HIGHEST] for name in ("random", "power-of-two", "Daronpon"))
        found[f"reduction against random, {service}"] = 1 - ours / random
        found[f"reduction against power-of-two, {service}"] = 1 - ours / two
        ideal = p99[service, "ideal queue", MEDIUM]
        found[f"over the ideal queue at 80 % load, {service}"] = p99[service, "Daronpon", MEDIUM] / ideal
        ordered += ours < two < random
        best = max(best, random / ours)
    return found | {"random over Daronpon, at most": best, "distributions in the paper's order": ordered}


def measure(settings: Settings) -> Outcome:
    """A curve for each distribution and policy."""
    loads = QUICK_LOADS if settings.quick else LOADS
    keys = [(service, name, load) for service in SERVICE_TIMES for name in POLICIES for load in loads]
    clusters = [LoadBalancing(POLICIES[name], SERVICE_TIMES[service], load) for service, name, load in keys]
    points = measure_points(clusters, settings, "daronpon-2.6")
    p99 = {key: point.p99_us for key, point in zip(keys, points, strict=True)}
    redirected = {key: point.redirected for key, point in zip(keys, points, strict=True)}
    charts = [
        line_chart(
            f"{service} service times",
            "load, %",
            "99th percentile, us",
            {name: [(100 * load, p99[service, name, load]) for load in loads] for name in POLICIES},
        )
        for service in SERVICE_TIMES
    ]
    shares = {
        service: [(100 * load, redirected[service, "Daronpon", load]) for load in loads]
        for service in SERVICE_TIMES
    }
    charts.append(line_chart("redirected by Daronpon", "load, %", "% of requests", shares))
    rows = compare("daronpon/figure_2_6.csv", quantities(p99))
    return Outcome(rows, charts, [point.digest for point in points])


EXPERIMENT = Experiment(
    "daronpon-2.6",
    "99th percentiles for three distributions of service times",
    "Wang 2025, section 2.5.3, figure 2.6",
    "3 racks with a replica of each of 2 services; service times of section 2.5.2. The highest load is 90 %.",
    measure,
)
