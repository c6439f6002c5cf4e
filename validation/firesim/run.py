"""Compares the thousand-node experiment with Karandikar 2024, table 2.3, at `traffic` fidelity.

    python validation/firesim/run.py [--until-ms MS] [--threads N] [--write]

`--write` renews `table_2_3.csv`. The row of partners in one rack is what the servers are calibrated on;
the other two are predictions. See README.md for what is known to differ.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pandas as pd

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "examples" / "clusters"))

from thousand_nodes import thousand_nodes  # noqa: E402

PAPER = {
    "rack": (79.26, 128.15, 4_691_888.0),
    "aggregation": (87.10, 111.25, 4_492_745.6),
    "root": (93.82, 119.50, 4_077_369.6),
}
"""Median and 95th percentile in us, and requests per second of all servers."""

WARMUP_MS = 1.0


def compare(until_ms: float, threads: int | None) -> pd.DataFrame:
    """A row per distance of the partners: the paper's numbers, ours, and the speed of the simulation."""
    rows = []
    for distance, (p50, p95, requests) in PAPER.items():
        result = thousand_nodes(distance).run(until_ms=until_ms, threads=threads)
        rate = result.latency["count"] / (until_ms - WARMUP_MS) * 1e3
        rows.append(
            {
                "partners": distance,
                "p50_us_paper": p50,
                "p50_us": round(result.latency["p50_us"], 2),
                "p95_us_paper": p95,
                "p95_us": round(result.latency["p95_us"], 2),
                "requests_per_second_paper": requests,
                "requests_per_second": round(rate),
                "dropped": int(result.ports["dropped"].sum()),
                "mhz": round(result.cycles_per_second / 1e6, 1),
                "threads": result.threads,
            }
        )
    return pd.DataFrame(rows)


def main() -> None:
    """Prints the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--until-ms", type=float, default=50.0)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    table = compare(arguments.until_ms, arguments.threads)
    print(table.to_string(index=False))
    if arguments.write:
        table.drop(columns=["mhz", "threads"]).to_csv(HERE / "table_2_3.csv", index=False)


if __name__ == "__main__":
    main()
