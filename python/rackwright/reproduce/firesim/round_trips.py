"""Figure 2.5: round trips over links of many latencies."""

from __future__ import annotations

from rackwright.cluster import ClosedLoop, Cluster, ClusterResult, Constant, Ethernet, Switch, Traffic
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.lines import line_chart
from rackwright.reproduce.reference import compare

LATENCIES_US = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
CYCLES_PER_US = 3200
SWITCHING_CYCLES = 10
ROUND_TRIPS = 100
STACK_US = 8.5
"""A quarter of the 34 us that the paper finds in software: a round trip passes a stack four times."""
SERVICE_CYCLES = 1
FLITS = -(-(56 + 42) // 8)
"""The frame of a ping with 56 bytes."""


def ideal_cycles(latency_us: float) -> int:
    """Four links and two switchings."""
    return round(4 * latency_us * CYCLES_PER_US) + 2 * SWITCHING_CYCLES


def explained_cycles() -> int:
    """What comes on top: every flit but the first of a frame, on two links each way, and software."""
    return 4 * (FLITS - 1) + round(4 * STACK_US * CYCLES_PER_US) + SERVICE_CYCLES


def round_trips(latency_us: float) -> ClusterResult:
    """The first one does not count, as in the paper."""
    echo = Traffic("echo", service=Constant(SERVICE_CYCLES / CYCLES_PER_US), stack_us=STACK_US)
    asks = Traffic(
        "asks",
        sends=ClosedLoop(outstanding=1, think=Constant(1000)),
        to=echo,
        requests=ROUND_TRIPS,
        request_bytes=56,
        answer_bytes=56,
        stack_us=STACK_US,
    )
    switch = Switch(switching_cycles=SWITCHING_CYCLES)
    switch.add_downlinks([asks, echo, *(Traffic() for _ in range(6))])
    result = Cluster(switch, link=Ethernet(latency_us=latency_us), warmup_us=1500).run(until_ms=200)
    if result.latency["count"] != ROUND_TRIPS - 1:
        raise AssertionError(f"{result.latency['count']} of {ROUND_TRIPS - 1} round trips came back")
    return result


def measure(settings: Settings) -> Outcome:
    """The slope, and what lies between the ideal line and ours."""
    measured, digests = {}, []
    for latency_us in LATENCIES_US:
        settings.detail(f"firesim-2.5: links of {latency_us:g} us")
        result = round_trips(latency_us)
        measured[latency_us] = result.latency["mean_us"] * CYCLES_PER_US
        digests.append(result.digest)
    first, last = LATENCIES_US[0], LATENCIES_US[-1]
    offsets = {latency: cycles - ideal_cycles(latency) for latency, cycles in measured.items()}
    unexplained = max((offset - explained_cycles() for offset in offsets.values()), key=abs)
    rows = compare(
        "firesim/figure_2_5.csv",
        {
            "round trip per link latency": (measured[last] - measured[first])
            / (last - first)
            / CYCLES_PER_US,
            "round trip above the ideal line": max(offsets.values()) / CYCLES_PER_US,
            "cycles of it not explained": round(unexplained, 6),
        },
    )
    chart = line_chart(
        "round trip by link latency",
        "link latency, us",
        "us",
        {
            "ours": [(latency, cycles / CYCLES_PER_US) for latency, cycles in measured.items()],
            "ideal": [(latency, ideal_cycles(latency) / CYCLES_PER_US) for latency in LATENCIES_US],
        },
    )
    return Outcome(rows, [chart], digests)


EXPERIMENT = Experiment(
    "firesim-2.5",
    "Round trip by link latency",
    "Karandikar 2024, section 2.4, figure 2.5",
    "8 servers of `traffic` fidelity under one switch; one asks another, links of 0.5 to 16 us.",
    measure,
)
