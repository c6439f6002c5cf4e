"""The thousand nodes of table 2.3 with cores: memcached and load generators on bare metal, NICs in RTL."""

from __future__ import annotations

import runpy
import time
from statistics import fmean

from bootstrap.paths import REPOSITORY
from rackwright.reproduce.experiment import Settings

EXAMPLE = REPOSITORY / "examples" / "clusters" / "memcached.py"
PAIRS, QUICK_PAIRS = 16, 1
"""Per rack; 16 make the thousand nodes."""
REQUESTS, QUICK_REQUESTS = 40, 10
STEPS = {"an aggregation switch": ("rack", "aggregation"), "the root": ("aggregation", "root")}


class Speed:
    """The speed of a run after its first `skip_us`, in which servers start and resolve addresses."""

    def __init__(self, skip_us: float) -> None:
        self._skip_us = skip_us
        self._first: tuple[float, float] | None = None
        self._last = (0.0, 0.0)

    def progress(self, now_us: float, until_us: float, rest_seconds: float) -> None:
        """Called with the progress of the run."""
        self._last = (now_us, time.perf_counter())
        if self._first is None and now_us >= self._skip_us:
            self._first = self._last

    def mhz(self) -> float:
        """Simulated cycles of 3.2 GHz per second of real time, in millions."""
        first = self._first or (0.0, self._last[1])
        return 3200 * (self._last[0] - first[0]) / max(self._last[1] - first[1], 1e-9) / 1e6


def measure(settings: Settings) -> tuple[dict[str, float], list[str]]:
    """The rows with `rocket` cores, and the digests of the runs."""
    example = runpy.run_path(str(EXAMPLE))
    pairs = QUICK_PAIRS if settings.quick else PAIRS
    requests = QUICK_REQUESTS if settings.quick else REQUESTS
    means, unanswered, digests, speeds = {}, 0.0, [], []
    for distance in ("rack", "aggregation", "root"):
        settings.detail(f"firesim-t2.3: rocket cores, partners by {distance}")
        cluster, asks = example["memcached"](distance, pairs, requests)
        speed = Speed(skip_us=300)
        result = cluster.run(until_ms=100, ends_with=asks, progress=speed.progress)
        means[distance] = fmean(example["latencies_us"](result, "mean"))
        answered = sum(2000 * count for count in example["latencies_us"](result, "answered"))
        unanswered += requests * len(asks) - answered + sum(example["latencies_us"](result, "wrong"))
        digests.append(result.digest)
        speeds.append(speed.mhz())
    rows = {f"rocket cores: mean latency, partners by {distance}": mean for distance, mean in means.items()}
    rows |= {
        f"rocket cores: {what} more": means[after] - means[before] for what, (before, after) in STEPS.items()
    }
    rows["rocket cores: requests lost or answered wrongly"] = unanswered
    rows["rocket cores: speed under load"] = min(speeds)
    return rows, digests
