"""Figure 2.6: concurrent streams fill the link at the root."""

from __future__ import annotations

from rackwright.cluster import Cluster, ClusterResult, Ethernet, Switch
from rackwright.machine.server import Server
from rackwright.machine.workloads import BareMetal
from rackwright.reports.plots import Points, line_chart
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.reference import compare

LIMITS = {1: (5, 512), 10: (25, 256), 40: (25, 64), 100: (125, 128)}
"""By Gbit/s: the token bucket of the NIC, flits of 8 bytes per cycles of its 1.6 GHz."""
SENDERS = 8
FRAME_BYTES = 1600
"""200 flits, so that a sample contains a whole number of frames at every rate."""
SAMPLE_CYCLES = 40_960
SAMPLE_US = SAMPLE_CYCLES / 3200
SAMPLES, QUICK_SAMPLES = 4, 2
"""After this number of samples the next sender starts; the last sample of each counts."""
LEAD_SAMPLES = 8
"""Before that, addresses are resolved and frames are built."""
HART_CYCLES_PER_SAMPLE = SAMPLE_CYCLES * 5 // 8
VERIFIED = {1: 1, 10: 1, 40: 64, 100: 64}
"""Receivers check every byte of one in this number of frames."""


def cluster(gbps: int, samples: int) -> Cluster:
    """Senders limited to `gbps`, on links of 200 Gbit/s between switches."""
    root, left, right = Switch("root"), Switch("left"), Switch("right")
    root.add_downlinks([left, right], link=Ethernet(gbps=200))
    flits, period = LIMITS[gbps]
    for index in range(SENDERS):
        sink = Server(name=f"sink{index}", workload=BareMetal("bulk.elf", ["1000000", str(VERIFIED[gbps])]))
        start = (LEAD_SAMPLES + index * samples) * HART_CYCLES_PER_SAMPLE
        values = (1_000_000, FRAME_BYTES, flits, period, start)
        source = Server(
            name=f"source{index}", workload=BareMetal("bulk.elf", [sink, *(str(value) for value in values)])
        )
        left.add_downlinks([source])
        right.add_downlinks([sink])
    return Cluster(root)


def received(result: ClusterResult, samples: int) -> list[float]:
    """The root's received traffic in Gbit/s, by number of senders, in the last sample of each step."""
    rates = list(result.samples["received_gbps"])
    return [rates[LEAD_SAMPLES + step * samples - 1] for step in range(1, SENDERS + 1)]


def measure(settings: Settings) -> Outcome:
    """The traffic received by the root, by the rate and the number of senders."""
    samples = QUICK_SAMPLES if settings.quick else SAMPLES
    measured: dict[str, float] = {}
    lines: dict[str, Points] = {}
    digests = []
    for gbps in LIMITS:
        settings.detail(f"firesim-2.6: senders of {gbps} Gbit/s")
        until_ms = (LEAD_SAMPLES + SENDERS * samples) * SAMPLE_US / 1e3
        result = cluster(gbps, samples).run(until_ms, sample_us=SAMPLE_US, sample_ports=["root.port0"])
        digests.append(result.digest)
        points = [(float(count), rate) for count, rate in enumerate(received(result, samples), start=1)]
        lines[f"{gbps} Gbit/s each"] = points
        measured |= {f"senders of {gbps} Gbit/s: {senders:g}": rate for senders, rate in points}
    chart = line_chart("received by the root", "senders", "Gbit/s", lines)
    return Outcome(compare("firesim/figure_2_6.csv", measured), [chart], digests)


EXPERIMENT = Experiment(
    "firesim-2.6",
    "Aggregate bandwidth of concurrent streams",
    "Karandikar 2024, section 2.4, figure 2.6",
    "8 senders and 8 receivers with `rocket` cores and NICs in RTL in two racks, beginning one by one.",
    measure,
)
