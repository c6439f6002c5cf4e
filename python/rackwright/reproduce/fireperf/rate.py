"""The cost of observing a machine that runs iperf3: its simulation rate with and without an observer."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from rackwright._engine import Observer
from rackwright.errors import RackwrightError
from rackwright.linux.boot import BootResult, boot, restore
from rackwright.linux.image import Image, build_image, load_image
from rackwright.profiling.watching import Watching
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.guests import PAPERS_TIME
from rackwright.reproduce.reference import compare

COUNTERS = (
    "retired.load",
    "retired.store",
    "retired.branch",
    "retired.jump",
    "stall.front_end",
    "stall.branch",
    "stall.dependency",
    "stall.l2",
    "stall.memory",
    "l1i_misses",
    "l1d_misses",
    "l2_hits",
    "l2_misses",
    "llc_misses",
    "probes",
)
"""The number of the paper."""

WATCHINGS = {
    "armed and off": Watching(start="function:panic", counters=COUNTERS, every=1000),
    "observed": Watching(counters=COUNTERS, every=1000),
}
"""Kinds of observation: with a trigger that never occurs, and with full stacks and all counters."""

HARTS = 2
MEMORY_BYTES = 512 << 20
ROUNDS, QUICK_ROUNDS = 5, 3
MEGABYTES, QUICK_MEGABYTES = 8, 1


@dataclass(frozen=True)
class Cost:
    """The processor time of a run, and its result.

    `begin_seconds` are those before it, in which the machine is restored and symbols are read.
    """

    begin_seconds: float
    result: BootResult

    @property
    def seconds(self) -> float:
        """Of the run itself."""
        return self.result.processor_seconds


def costs(image: Image, command: str, rounds: int, harts: int = HARTS) -> Iterator[dict[str, Cost]]:
    """The cost of `command` on a booted machine of `rocket` harts, in each round: alone, and observed.

    Raises `RackwrightError` when the command fails, or an observer has changed the run.
    """
    with TemporaryDirectory() as folder:
        booted = Path(folder) / "booted"
        boot(image, harts=harts, memory_bytes=MEMORY_BYTES, timing=PAPERS_TIME, checkpoint=booted)
        for _ in range(rounds):
            alone = _cost(booted, command, image, None)
            found = {way: _cost(booted, command, image, each.observer()) for way, each in WATCHINGS.items()}
            for way, cost in found.items():
                if cost.result.digest != alone.result.digest:
                    raise RackwrightError(f"the run is another one when it is {way}")
            yield {"alone": alone, **found}


def _cost(booted: Path, command: str, image: Image, observer: Observer | None) -> Cost:
    began = time.process_time()
    result = restore(booted, command, cpu="rocket", observer=observer, image=image)
    whole = time.process_time() - began
    if result.exit_code != 0:
        raise RackwrightError(f"{command} ended with status {result.exit_code}: {result.stderr.decode()}")
    return Cost(whole - result.processor_seconds, result)


def measure(settings: Settings) -> Outcome:
    """The best of each kind counts: other load on the machine only adds time."""
    settings.detail("fireperf-rate: image with iperf3")
    image = load_image(build_image(["iperf3"], tell=settings.detail))
    megabytes = QUICK_MEGABYTES if settings.quick else MEGABYTES
    command = f"ip link set lo up && iperf3 -s -D && sleep 0.1 && iperf3 -c 127.0.0.1 -n {megabytes}M"
    best: dict[str, Cost] = {}
    for number, found in enumerate(costs(image, command, QUICK_ROUNDS if settings.quick else ROUNDS), 1):
        settings.detail(f"fireperf-rate: round {number} is done")
        for way, cost in found.items():
            best[way] = min(best.get(way, cost), cost, key=lambda each: each.seconds)
    return outcome(best)


def outcome(best: dict[str, Cost]) -> Outcome:
    """Rates, and those of observed runs relative to the unobserved run."""
    rates = {way: cost.result.cycles / cost.seconds / 1e6 for way, cost in best.items()}
    rows = compare(
        "fireperf/rate.csv",
        {f"rate, {way}": rate for way, rate in rates.items()}
        | {f"rate, {way} over alone": rates[way] / rates["alone"] for way in WATCHINGS}
        | {"beforehand, to read symbols": best["observed"].begin_seconds - best["alone"].begin_seconds},
    )
    return Outcome(rows, digests=[cost.result.digest for cost in best.values()])


EXPERIMENT = Experiment(
    "fireperf-rate",
    "What it costs to observe a machine",
    "Karandikar 2020 (ASPLOS), section 4.1",
    "iperf3 through the loopback interface of Debian's kernel on two `rocket` harts: alone; with an armed"
    " trigger; with the stacks of everything and 15 counters every 1,000 cycles. Cycles per second of the"
    " host's processors from when the machine runs on; symbols are read before.",
    measure,
)
