"""Figure 2.8: service times of three orders of magnitude, and their cost in messages."""

from __future__ import annotations

from rackwright.cluster import Constant, Dispatch, LoadBalancing
from rackwright.reports.plots import line_chart
from rackwright.reproduce.daronpon.points import FEW_REQUESTS
from rackwright.reproduce.daronpon.points import measure as measure_points
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.reference import compare

SERVICES_US = (2, 20, 200)
LOADS = (0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)
QUICK_LOADS = (0.5, 0.9)
# Section 2.5.5 sets the load delta to zero, so that the least loaded rack is always selected.
POLICIES = {"random": ("client-random", Dispatch()), "Daronpon": ("daronpon", Dispatch(load_delta=0.0))}


def measure(settings: Settings) -> Outcome:
    """For each service time a curve of each policy, and the shares of messages."""
    loads = QUICK_LOADS if settings.quick else LOADS
    keys = [(us, name, load) for us in SERVICES_US for name in POLICIES for load in loads]
    clusters = [
        LoadBalancing(POLICIES[name][0], Constant(us), load, dispatch=POLICIES[name][1])
        for us, name, load in keys
    ]
    found = measure_points(clusters, settings, "daronpon-2.8", FEW_REQUESTS)
    points = dict(zip(keys, found, strict=True))
    last, measured = loads[-1], {}
    for us in SERVICES_US:
        ours, random = (points[us, name, last] for name in ("Daronpon", "random"))
        measured[f"99th percentile of random over Daronpon's near the peak, {us} us"] = (
            random.p99_us / ours.p99_us
        )
        measured[f"redirected near the peak, {us} us"] = ours.redirected
        measured[f"requests that cause gossip, at most, {us} us"] = max(
            points[us, "Daronpon", load].caused_gossip for load in loads
        )
    charts = []
    for us in SERVICES_US:
        latencies = {
            name: [(100 * load, points[us, name, load].p99_us) for load in loads] for name in POLICIES
        }
        curve = [(100 * load, points[us, "Daronpon", load]) for load in loads]
        shares = {
            "cause gossip": [(load, point.caused_gossip) for load, point in curve],
            "redirected": [(load, point.redirected) for load, point in curve],
        }
        charts.append(line_chart(f"service times of {us} us", "load, %", "99th percentile, us", latencies))
        charts.append(line_chart(f"overhead at {us} us", "load, %", "% of requests", shares))
    rows = compare("daronpon/figure_2_8.csv", measured)
    return Outcome(rows, charts, [point.digest for point in points.values()])


EXPERIMENT = Experiment(
    "daronpon-2.8",
    "Service times of three orders of magnitude",
    "Wang 2025, section 2.5.5, figure 2.8",
    "As daronpon-2.4, service times of 2, 20 and 200 us; every less loaded rack is chosen. The peak is 90 %.",
    measure,
)
