"""Figures 2.8 and 2.9: the simulation speed of clusters over their size and the latency of their links."""

from __future__ import annotations

from rackwright.cluster import (
    ClosedLoop,
    Cluster,
    ClusterResult,
    Ethernet,
    Exponential,
    Switch,
    Traffic,
    tree,
)
from rackwright.reports.plots import line_chart
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.reference import compare

RACKS = {8: 1, 64: 2, 256: 8, 1024: 32}
"""By the number of servers: racks, under one root from two on, and four aggregation switches from 32 on."""

LATENCIES_US = (0.5, 1.0, 2.0, 4.0, 8.0)
UNTIL_MS, QUICK_UNTIL_MS = 20.0, 4.0


def switches(racks: int) -> tuple[Switch, list[Switch]]:
    """The root and the top-of-rack switches."""
    if racks == 1:
        tor = Switch("tor0")
        return tor, [tor]
    levels = tree([4, racks // 4] if racks == 32 else [racks])
    return levels[0][0], levels[-1]


def cluster(servers: int, busy_pairs: int, latency_us: float = 2.0) -> Cluster:
    """Half of the servers serve, the others send about 10,000 requests/s each in `busy_pairs` pairs."""
    racks = RACKS[servers]
    root, tors = switches(racks)
    serves = [
        Traffic(service=Exponential(mean_us=43.5, minimum_us=22.3), cores=4) for _ in range(servers // 2)
    ]
    for index, server in enumerate(serves):
        load = ClosedLoop(think=Exponential(mean_us=50)) if index < busy_pairs else None
        client = Traffic(sends=load, to=server, answer_bytes=250)
        # A partner is in the next rack.
        tors[index % racks].add_downlinks([server])
        tors[(index + 1) % racks].add_downlinks([client])
    return Cluster(root, link=Ethernet(latency_us=latency_us), seed=1)


def _rate(result: ClusterResult) -> float:
    return result.cycles_per_second / 1e6


def by_nodes(settings: Settings) -> Outcome:
    """With all pairs busy, and with eight servers busy however many there are."""
    until_ms = QUICK_UNTIL_MS if settings.quick else UNTIL_MS
    busy: dict[float, float] = {}
    idle: dict[float, float] = {}
    digests = []
    for servers in RACKS:
        settings.detail(f"firesim-2.8: {servers} nodes")
        for rates, pairs in ((busy, servers // 2), (idle, 4)):
            result = cluster(servers, pairs).run(until_ms)
            rates[servers] = _rate(result)
            digests.append(result.digest)
    rows = compare(
        "firesim/figure_2_8.csv",
        {f"{servers} nodes, all busy": rate for servers, rate in busy.items()}
        | {f"{servers} nodes, 8 of them busy": rate for servers, rate in idle.items()},
    )
    lines = {"all busy": list(busy.items()), "8 busy": list(idle.items())}
    return Outcome(rows, [line_chart("simulation rate by nodes", "nodes", "MHz", lines)], digests)


def by_latency(settings: Settings) -> Outcome:
    """1024 busy servers; windows are as long as the latency of links."""
    until_ms = QUICK_UNTIL_MS if settings.quick else UNTIL_MS
    rates: dict[float, float] = {}
    digests = []
    for latency_us in LATENCIES_US:
        settings.detail(f"firesim-2.9: links of {latency_us:g} us")
        result = cluster(1024, 512, latency_us).run(until_ms)
        rates[latency_us] = _rate(result)
        digests.append(result.digest)
    first, last = LATENCIES_US[0], LATENCIES_US[-1]
    rows = compare(
        "firesim/figure_2_9.csv",
        {f"links of {latency_us:g} us": rate for latency_us, rate in rates.items()}
        | {f"rate at {last:g} us over rate at {first:g} us": rates[last] / rates[first]},
    )
    lines = {"1024 nodes, all busy": list(rates.items())}
    return Outcome(rows, [line_chart("simulation rate by link latency", "us", "MHz", lines)], digests)


BY_NODES = Experiment(
    "firesim-2.8",
    "Simulation rate by number of nodes",
    "Karandikar 2024, section 2.5, figure 2.8, of which only the shape can be compared",
    "8 to 1024 servers of `traffic` fidelity, links of 2 us; cycles of 3.2 GHz per real second.",
    by_nodes,
)

BY_LATENCY = Experiment(
    "firesim-2.9",
    "Simulation rate by link latency",
    "Karandikar 2024, section 2.5, figure 2.9, of which only the shape can be compared",
    "1024 servers of `traffic` fidelity, all busy, links of 0.5 to 8 us; as firesim-2.8.",
    by_latency,
)
