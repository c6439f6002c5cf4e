"""Compares waiting times in a service with queueing theory.

    python validation/queueing/run.py [--requests N] [--write]

One client asks one service over one link; a million requests take about half a second. `--write`
renews `reference.csv`.
"""

from __future__ import annotations

import argparse
import statistics
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import theory

from rackwright import Cluster, Traffic
from rackwright.cluster import Constant, Distribution, Exponential, Poisson

REFERENCE = Path(__file__).with_name("reference.csv")
SERVICE_US = 10.0
LIMIT_PERCENT = 2.0
RUNS = 4


@dataclass(frozen=True)
class Case:
    """A queue: M/M/k with exponential service times, M/D/1 with constant ones."""

    name: str
    service: Distribution
    cores: int
    load: float

    def expected(self) -> tuple[float, float]:
        """Mean and 99th percentile of the wait, in service times."""
        if isinstance(self.service, Constant):
            return theory.constant(self.load, 99)
        return theory.exponential(self.load, self.cores, 99)

    def measured(self, requests: int) -> tuple[float, float]:
        """The same, simulated: the mean of `RUNS` runs with seeds that no other case has."""
        first = RUNS * CASES.index(self)
        runs = [self.simulated(requests // RUNS, seed) for seed in range(first, first + RUNS)]
        return statistics.fmean(mean for mean, _ in runs), statistics.fmean(p99 for _, p99 in runs)

    def simulated(self, requests: int, seed: int) -> tuple[float, float]:
        """The same, simulated once."""
        server = Traffic("server", service=self.service, cores=self.cores)
        rate = self.load * self.cores * 1e6 / SERVICE_US
        client = Traffic("client", sends=Poisson(rate), to=server, requests=requests, timeout_us=1e6)
        client.connect(server)
        milliseconds = 1000 * requests / rate
        cluster = Cluster(client, seed=seed, warmup_us=1e4)
        result = cluster.run(until_ms=1.1 * milliseconds + 100, threads=1)
        row = result.servers.set_index("name").loc["server"]
        return row["wait_mean_us"] / SERVICE_US, row["wait_p99_us"] / SERVICE_US


CASES = [
    Case("M/M/1", Exponential(SERVICE_US), 1, 0.5),
    Case("M/M/1", Exponential(SERVICE_US), 1, 0.7),
    Case("M/D/1", Constant(SERVICE_US), 1, 0.5),
    Case("M/D/1", Constant(SERVICE_US), 1, 0.7),
    Case("M/M/4", Exponential(SERVICE_US), 4, 0.7),
    Case("M/M/16", Exponential(SERVICE_US), 16, 0.8),
]


def compare(requests: int) -> pd.DataFrame:
    """A row per case: theory, simulation, and the difference in percent."""
    rows = []
    for case in CASES:
        row: dict[str, object] = {"queue": case.name, "load": case.load}
        for what, expected, measured in zip(
            ("mean", "p99"), case.expected(), case.measured(requests), strict=True
        ):
            row[f"{what}_theory"] = round(expected, 5)
            row[what] = round(measured, 5)
            row[f"{what}_off_percent"] = round(100 * (measured / expected - 1), 3)
        rows.append(row)
    return pd.DataFrame(rows)


def main() -> int:
    """Prints the comparison; fails when a difference is too large."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=20_000_000)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    table = compare(arguments.requests)
    print(table.to_string(index=False))
    if arguments.write:
        table.to_csv(REFERENCE, index=False)
    return int((table.filter(like="off").abs() > LIMIT_PERCENT).any(axis=None))


if __name__ == "__main__":
    raise SystemExit(main())
