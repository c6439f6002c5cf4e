"""Compares round trips at many link latencies with Karandikar 2024, figure 2.5, at `traffic` fidelity.

    python validation/firesim/ping.py [--write]

8 servers under one switch; one asks another 100 times, and the first round trip does not count. The ideal
is four times the link latency and twice the switching latency of 10 cycles. What comes on top is explained
cycle by cycle. `--write` renews `figure_2_5.csv`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from rackwright import Cluster, Ethernet, Switch, Traffic
from rackwright.cluster import ClosedLoop, Constant

REFERENCE = Path(__file__).with_name("figure_2_5.csv")
LATENCIES_US = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
CYCLES_PER_US = 3200
SWITCHING_CYCLES = 10
STACK_US = 8.5
"""A quarter of the 34 us that the paper finds in software: a round trip passes a stack four times."""
SERVICE_CYCLES = 1
FLITS = -(-(56 + 42) // 8)
"""The frame of a ping with 56 bytes."""


def round_trip(latency_us: float) -> float:
    """The mean of 99 round trips, in cycles."""
    echo = Traffic("echo", service=Constant(SERVICE_CYCLES / CYCLES_PER_US), stack_us=STACK_US)
    pings = ClosedLoop(outstanding=1, think=Constant(1000))
    asks = Traffic(
        "asks", sends=pings, to=echo, requests=100, request_bytes=56, answer_bytes=56, stack_us=STACK_US
    )
    switch = Switch(switching_cycles=SWITCHING_CYCLES)
    switch.add_downlinks([asks, echo, *(Traffic() for _ in range(6))])
    cluster = Cluster(switch, link=Ethernet(latency_us=latency_us), warmup_us=1500)
    result = cluster.run(until_ms=200)
    assert result.latency["count"] == 99
    return result.latency["mean_us"] * CYCLES_PER_US


def compare() -> pd.DataFrame:
    """A row per link latency, in cycles: ideal, measured, and what the difference is made of."""
    # Every flit but the first of a frame, on both links each way, and software.
    wires = 4 * (FLITS - 1)
    software = round(4 * STACK_US * CYCLES_PER_US) + SERVICE_CYCLES
    rows = []
    for latency_us in LATENCIES_US:
        ideal = round(4 * latency_us * CYCLES_PER_US) + 2 * SWITCHING_CYCLES
        measured = round_trip(latency_us)
        rows.append(
            {
                "link_us": latency_us,
                "ideal_cycles": ideal,
                "measured_cycles": round(measured, 6),
                "flits_cycles": wires,
                "software_cycles": software,
                "unexplained_cycles": round(measured - ideal - wires - software, 6),
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
