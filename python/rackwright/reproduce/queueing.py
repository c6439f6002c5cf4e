"""Waiting times in a service, against queueing theory."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from rackwright.cluster import Cluster, ClusterResult, Constant, Distribution, Exponential, Poisson, Traffic
from rackwright.reproduce import queueing_theory
from rackwright.reproduce.experiment import Experiment, Outcome, Row, Settings

SERVICE_US = 10.0
LIMIT_PERCENT = 2.0
RUNS = 4
REQUESTS, QUICK_REQUESTS = 20_000_000, 5_000_000


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
            return queueing_theory.constant(self.load, 99)
        return queueing_theory.exponential(self.load, self.cores, 99)

    def simulated(self, requests: int, seed: int) -> ClusterResult:
        """One client sends requests to one service over one link."""
        server = Traffic("server", service=self.service, cores=self.cores)
        rate = self.load * self.cores * 1e6 / SERVICE_US
        client = Traffic("client", sends=Poisson(rate), to=server, requests=requests, timeout_us=1e6)
        client.connect(server)
        milliseconds = 1000 * requests / rate
        cluster = Cluster(client, seed=seed, warmup_us=1e4)
        return cluster.run(until_ms=1.1 * milliseconds + 100, threads=1)


CASES = (
    Case("M/M/1", Exponential(SERVICE_US), 1, 0.5),
    Case("M/M/1", Exponential(SERVICE_US), 1, 0.7),
    Case("M/D/1", Constant(SERVICE_US), 1, 0.5),
    Case("M/D/1", Constant(SERVICE_US), 1, 0.7),
    Case("M/M/4", Exponential(SERVICE_US), 4, 0.7),
    Case("M/M/16", Exponential(SERVICE_US), 16, 0.8),
)


def rows_of(case: Case, results: list[ClusterResult]) -> list[Row]:
    """Mean and 99th percentile, each the mean of several runs, beside theory."""
    rows = []
    for name, key, expected in zip(
        ("mean", "99th percentile"), ("wait_mean_us", "wait_p99_us"), case.expected(), strict=True
    ):
        waits = [result.servers.set_index("name")[key].loc["server"] for result in results]
        quantity = f"{case.name} at {case.load:.0%}: {name} of the wait"
        ours = statistics.fmean(waits) / SERVICE_US
        rows.append(Row(quantity, expected, ours, "service times", LIMIT_PERCENT))
    return rows


def measure(settings: Settings) -> Outcome:
    """A million requests take about half a second."""
    requests = QUICK_REQUESTS if settings.quick else REQUESTS
    rows, digests = [], []
    for index, case in enumerate(CASES):
        settings.detail(f"queueing: {case.name} at {case.load:.0%}")
        # Seeds that no other case has.
        seeds = range(RUNS * index, RUNS * index + RUNS)
        results = [case.simulated(requests // RUNS, seed) for seed in seeds]
        rows += rows_of(case, results)
        digests += [result.digest for result in results]
    return Outcome(rows, digests=digests)


EXPERIMENT = Experiment(
    "queueing",
    "Waiting times in a service",
    "Kleinrock 1975; Erlang 1909 for M/D/1",
    "One client asks one service over one link: M/M/1, M/D/1 and M/M/k, at several loads.",
    measure,
)
