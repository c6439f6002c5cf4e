"""Figure 2.6: concurrent streams fill the link at the root."""

from __future__ import annotations

import pandas as pd

from rackwright.cluster import Cluster, ClusterResult, Constant, Ethernet, Periodic, Switch, Traffic
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.lines import Points, line_chart
from rackwright.reproduce.reference import compare

RATES_GBPS = (1, 10, 40, 100)
SENDERS = 8
STEP_US = 4000.0
"""After so long, the next sender begins."""
FRAME_BYTES = 1512
"""A whole number of flits."""
HEADER_BYTES = 42


def cluster(gbps: int) -> Cluster:
    """Senders limited to `gbps`, on links of 200 Gbit/s between switches."""
    root, left, right = Switch("root"), Switch("left"), Switch("right")
    root.add_downlinks([left, right], link=Ethernet(gbps=200))
    for index in range(SENDERS):
        receiver = Traffic(f"receiver{index}", service=Constant(0), cores=8)
        sender = Traffic(
            f"sender{index}",
            # Slightly more than the link takes, so that it is the link that limits.
            sends=Periodic(rate=1.01 * gbps * 1e9 / (8 * FRAME_BYTES)),
            to=receiver,
            request_bytes=FRAME_BYTES - HEADER_BYTES,
            answer_bytes=16,
            start_us=index * STEP_US,
            timeout_us=1e6,
        )
        left.add_downlinks([sender], link=Ethernet(gbps=gbps))
        right.add_downlinks([receiver], link=Ethernet(gbps=200))
    return Cluster(root, seed=1)


def received(result: ClusterResult) -> pd.Series[float]:
    """What the root receives in Gbit/s, by the number of senders, without the first fifth of a step."""
    samples = result.samples
    step = ((samples["time_us"] - 1) // STEP_US).astype(int)
    settled = samples["time_us"] - step * STEP_US > STEP_US / 5
    return samples[settled].groupby(step[settled] + 1)["received_gbps"].mean()


def measure(settings: Settings) -> Outcome:
    """What the root receives, by the rate and the number of senders."""
    measured: dict[str, float] = {}
    lines: dict[str, Points] = {}
    digests = []
    for gbps in RATES_GBPS:
        settings.detail(f"firesim-2.6: senders of {gbps} Gbit/s")
        until_ms = SENDERS * STEP_US / 1e3
        result = cluster(gbps).run(until_ms, sample_us=STEP_US / 10, sample_ports=["root.port0"])
        digests.append(result.digest)
        points = [(float(senders), rate) for senders, rate in enumerate(received(result), start=1)]
        lines[f"{gbps} Gbit/s each"] = points
        measured |= {f"senders of {gbps} Gbit/s: {senders:g}": rate for senders, rate in points}
    chart = line_chart("received by the root", "senders", "Gbit/s", lines)
    return Outcome(compare("firesim/figure_2_6.csv", measured), [chart], digests)


EXPERIMENT = Experiment(
    "firesim-2.6",
    "Aggregate bandwidth of concurrent streams",
    "Karandikar 2024, section 2.4, figure 2.6",
    "8 senders and 8 receivers of `traffic` fidelity in two racks; the senders begin one after another.",
    measure,
)
