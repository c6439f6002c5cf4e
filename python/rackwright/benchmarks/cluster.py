"""Speed of cluster simulation on one thread and on several, relative to the machine's upper bound.

The machine's processors may be slowed down by each other or by others that use them. Therefore all
measurements alternate, and the speed-up by threads is compared with that of independent processes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from statistics import median

from rackwright.benchmarks.cluster_loads import SCENARIOS
from rackwright.errors import RackwrightError
from rackwright.reports.host import available_processors


@dataclass(frozen=True)
class ClusterSpeed:
    """Simulated cycles of the network per second of real time, medians.

    `speedup` is the speed on `threads` threads over that on one; `ceiling` is that of as many concurrent
    single-threaded processes over that of one alone. `same` is true if one thread and several produced the
    same digests.
    """

    scenario: str
    what: str
    threads: int
    cycles_per_second: float
    cycles_per_second_on_threads: float
    cycles_per_cpu_second: float
    speedup: float
    ceiling: float
    same: bool


@dataclass(frozen=True)
class _Span:
    cycles: int
    seconds: float
    cpu_seconds: float
    digest: str

    @property
    def speed(self) -> float:
        return self.cycles / self.seconds


class _Worker:
    """A process that simulates a scenario on request; see cluster_worker.py."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def begin(self) -> None:
        """Starts the simulation of the next span."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def line(self) -> str:
        """The next line that it prints."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RackwrightError("a process that was to be measured has ended")
        return line

    def end(self) -> _Span:
        """The results of the span, when it is complete."""
        return _Span(**json.loads(self.line()))

    def span(self) -> _Span:
        """Simulates the next span, with no other process running."""
        self.begin()
        return self.end()


@contextmanager
def _worker(scenario: str, threads: int) -> Iterator[_Worker]:
    command = [sys.executable, "-m", "rackwright.benchmarks.cluster_worker", scenario, str(threads)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        worker = _Worker(process)
        worker.line()
        yield worker


def measure(scenario: str, threads: int | None = None, repetitions: int = 5) -> ClusterSpeed:
    """Runs a scenario on one thread, on `threads`, and in several processes, alternately.

    Without `threads`, it uses as many as there are processors. Raises `RackwrightError` for an unknown
    scenario.
    """
    if scenario not in SCENARIOS:
        raise RackwrightError(f"no scenario {scenario}; there are {', '.join(SCENARIOS)}")
    count = threads or available_processors()
    alone, together, beside = [], [], []
    with ExitStack() as stack:
        singles = [stack.enter_context(_worker(scenario, 1)) for _ in range(count)]
        threaded = stack.enter_context(_worker(scenario, count))
        for _ in range(repetitions):
            alone.append(singles[0].span())
            together.append(threaded.span())
            # From here on, the other processes are one span behind; the load stays the same.
            for single in singles:
                single.begin()
            beside.append([single.end() for single in singles])
            threaded.span()
    return ClusterSpeed(
        scenario=scenario,
        what=SCENARIOS[scenario].what,
        threads=count,
        cycles_per_second=median(span.speed for span in alone),
        cycles_per_second_on_threads=median(span.speed for span in together),
        cycles_per_cpu_second=median(span.cycles / span.cpu_seconds for span in alone),
        speedup=median(many.speed / one.speed for many, one in zip(together, alone, strict=True)),
        ceiling=median(_sum(spans) / one.speed for spans, one in zip(beside, alone, strict=True)),
        same=[span.digest for span in alone] == [span.digest for span in together],
    )


def _sum(spans: Sequence[_Span]) -> float:
    return sum(span.speed for span in spans)
