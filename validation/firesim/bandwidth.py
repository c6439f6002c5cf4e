"""Compares how concurrent streams fill a link with Karandikar 2024, figure 2.6, at `traffic` fidelity.

    python validation/firesim/bandwidth.py [--write]

16 servers in two racks under one root; those of the first send to those of the second at 1, 10, 40 or
100 Gbit/s, one after another. What the root receives is compared with the plateau in the paper's text,
and with the sum of the senders' rates at every step. `--write` renews `figure_2_6.csv`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from rackwright import Cluster, Ethernet, Switch, Traffic
from rackwright.cluster import Constant, Periodic

REFERENCE = Path(__file__).with_name("figure_2_6.csv")
PLATEAU_GBPS = {1: 8.0, 10: 80.0, 40: 200.0, 100: 200.0}
"""By the rate of the senders: where the aggregate at the root ends (section 2.4)."""
SENDERS = 8
STEP_US = 4000.0
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


def aggregate(gbps: int) -> pd.Series[float]:
    """What the root receives in Gbit/s, by the number of senders, without the first tenth of a step."""
    until_ms = SENDERS * STEP_US / 1e3
    result = cluster(gbps).run(until_ms, sample_us=STEP_US / 10, sample_ports=["root.port0"])
    samples = result.samples
    step = ((samples["time_us"] - 1) // STEP_US).astype(int)
    settled = samples["time_us"] - step * STEP_US > STEP_US / 5
    return samples[settled].groupby(step[settled] + 1)["received_gbps"].mean()


def compare() -> pd.DataFrame:
    """A row per rate and number of senders: ideal, measured, and the difference in percent."""
    rows = []
    for gbps, plateau in PLATEAU_GBPS.items():
        for senders, measured in aggregate(gbps).items():
            ideal = min(int(senders) * gbps, plateau)
            rows.append(
                {
                    "sender_gbps": gbps,
                    "senders": senders,
                    "paper_gbps": ideal,
                    "measured_gbps": round(measured, 3),
                    "off_percent": round(100 * (measured / ideal - 1), 3),
                }
            )
    return pd.DataFrame(rows)


def main() -> None:
    """Prints the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    table = compare()
    print(table.to_string(index=False))
    if parser.parse_args().write:
        table.to_csv(REFERENCE, index=False)


if __name__ == "__main__":
    main()
