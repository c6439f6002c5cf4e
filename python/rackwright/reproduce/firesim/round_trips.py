"""Figure 2.5: round trips over links of many latencies."""

from __future__ import annotations

from statistics import fmean, median

from rackwright.cluster import Cluster, Ethernet, Switch
from rackwright.machine.server import Server
from rackwright.machine.workloads import BareMetal
from rackwright.reports.plots import line_chart
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.firesim.round_trip_parts import usual_trip
from rackwright.reproduce.reference import compare

LATENCIES_US = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
HART_CYCLES_PER_US = 2000
SWITCHING_US = 10 / 3200
ROUND_TRIPS = 100
FLITS_US = 4 * (-(-(56 + 42) // 8) - 1) / 3200
"""Every flit after the first of the frame of a ping with 56 bytes, on two links in each direction."""


def ideal_us(latency_us: float) -> float:
    """Four links and two switchings."""
    return 4 * latency_us + 2 * SWITCHING_US


def round_trips(latency_us: float, count: int) -> tuple[list[float], str]:
    """The round trips but the first, in us, and the digest of the run."""
    answers = Server(name="answers", workload=BareMetal("ping.elf"))
    interval = HART_CYCLES_PER_US * (100 + 4 * latency_us)
    asks = Server(
        name="asks", workload=BareMetal("ping.elf", [answers, str(count), "56", str(round(interval))])
    )
    switch = Switch(switching_cycles=10)
    switch.add_downlinks([asks, answers, *(Server(workload=BareMetal("ping.elf")) for _ in range(6))])
    result = Cluster(switch, link=Ethernet(latency_us=latency_us)).run(until_ms=100, ends_with=asks)
    cycles = [int(line) for line in result.servers["stdout"][0].split()]
    if len(cycles) != count:
        raise AssertionError(f"{len(cycles)} of {count} round trips came back")
    return [each / HART_CYCLES_PER_US for each in cycles[1:]], result.digest


def measure(settings: Settings) -> Outcome:
    """The slope, and the difference from the ideal line.

    Medians, because trips miss in the caches until every buffer of a queue has been used once: a mean would
    depend on the number of further trips. A quick measurement has the same number, for the same reason.
    """
    measured, digests = {}, []
    for latency_us in LATENCIES_US:
        settings.detail(f"firesim-2.5: links of {latency_us:g} us")
        measured[latency_us], digest = round_trips(latency_us, ROUND_TRIPS)
        digests.append(digest)
    first, last = LATENCIES_US[0], LATENCIES_US[-1]
    usual = {latency: median(trips) for latency, trips in measured.items()}
    offsets = [usual[latency] - ideal_us(latency) for latency in LATENCIES_US]
    usual_one = usual_trip(2.0, ROUND_TRIPS)
    rows = compare(
        "firesim/figure_2_5.csv",
        {
            "round trip per link latency": (usual[last] - usual[first]) / (last - first),
            "round trip above the ideal line": fmean(offsets),
            "of it, flits behind the first of a frame": FLITS_US,
            "of it, NICs and programs": fmean(offsets) - FLITS_US,
            "change of the offset over all latencies": max(offsets) - min(offsets),
            "a usual round trip above the ideal line": usual_one.ns - usual_one.ideal_ns,
            **{f"of it, {part}": ns for part, ns in usual_one.parts.items()},
            **{f"{part}, instructions": count for part, count in usual_one.instructions.items()},
        },
    )
    chart = line_chart(
        "round trip by link latency",
        "link latency, us",
        "us",
        {
            "ours": list(usual.items()),
            "ideal": [(latency, ideal_us(latency)) for latency in LATENCIES_US],
        },
    )
    return Outcome(rows, [chart], digests)


EXPERIMENT = Experiment(
    "firesim-2.5",
    "Round trip by link latency",
    "Karandikar 2024, section 2.4, figure 2.5",
    "8 `rocket` servers with NICs in RTL under one switch; one pings another, links of 0.5 to 16 us.",
    measure,
)
