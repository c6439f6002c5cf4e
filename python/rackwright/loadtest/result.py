"""The result of a load."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class LoadLatency:
    """Durations that were observed, in microseconds, to three digits."""

    count: int
    mean_us: float
    p50_us: float
    p90_us: float
    p95_us: float
    p99_us: float
    p999_us: float
    max_us: float


@dataclass(frozen=True)
class LoadResult:
    """The result of a load; docs/json.md describes each value."""

    sent: int
    answered: int
    lost: int
    late: int
    malformed: int
    refused: int
    seconds: float
    offered_per_second: float
    answered_per_second: float
    latency: LoadLatency
    latency_from_send: LoadLatency
    send_delay: LoadLatency
    buckets: list[tuple[float, int]]

    @classmethod
    def read(cls, report: dict[str, Any]) -> LoadResult:
        """From the engine's report."""
        latencies = ("latency", "latency_from_send", "send_delay")
        values = {name: LoadLatency(**report[name]) for name in latencies}
        return cls(**{**report, **values})

    def record(self) -> dict[str, Any]:
        """The result in the format of the JSON output."""
        return dataclasses.asdict(self)
