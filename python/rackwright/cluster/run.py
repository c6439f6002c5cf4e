"""One run of a cluster, from its options to its result."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rackwright import _engine
from rackwright.cluster.checkpoint import Checkpoint, Checkpoints, Return
from rackwright.cluster.errors import InterruptedRun, LostRankError
from rackwright.cluster.pace import Looks, Progress, Sampler, Stop, advance
from rackwright.cluster.ranks import Ranks, RanksLost, world
from rackwright.cluster.result import ClusterResult
from rackwright.cluster.runners import Alone, Runner, Together
from rackwright.cluster.session import Session
from rackwright.errors import RackwrightError

_LOOKS_PER_SECOND = 10_000
"""The interval, in simulated time, at which the end of the run's programs is checked."""


@dataclass(frozen=True)
class Options:
    """The arguments of `Cluster.run`; see there. `ends_with` has names."""

    until_ms: float
    threads: int | None = None
    window_cycles: int | None = None
    skip_idle: bool = True
    pcap: Path | None = None
    pcap_ports: Sequence[str] = ()
    sample_us: float | None = None
    sample_ports: Sequence[str] = ()
    ends_with: Sequence[str] = ()
    checkpoint: Path | None = None
    checkpoint_us: float | None = None
    restart: Path | None = None
    progress: Progress | None = None

    def as_asked(self, asked: Session) -> Options:
        """The arguments with those of the command line in place of the script's."""
        options = replace(
            self,
            until_ms=asked.settings.value("until_ms", self.until_ms),
            threads=asked.threads or self.threads,
            checkpoint=asked.checkpoint or self.checkpoint,
            checkpoint_us=asked.checkpoint_us or self.checkpoint_us,
            restart=asked.restart or self.restart,
            progress=asked.progress or self.progress,
        )
        if not asked.pcap_ports:
            return options
        file = asked.path("capture", ".pcapng", len(asked.results))
        return replace(options, pcap=file, pcap_ports=asked.pcap_ports)

    def check(self) -> None:
        """Raises `RackwrightError` if an argument lacks a required other one."""
        if bool(self.pcap) != bool(self.pcap_ports):
            raise RackwrightError("a capture needs a file and ports: pcap='out', pcap_ports=['tor0.port3']")
        if bool(self.sample_us) != bool(self.sample_ports):
            example = "sample_us=10, sample_ports=['tor0.port3']"
            raise RackwrightError(f"samples need an interval and ports: {example}")
        if self.checkpoint_us and not self.checkpoint:
            raise RackwrightError("checkpoints need a file: checkpoint='file', checkpoint_us=1000")


Make = Callable[[list[int] | None], _engine.Cluster]
"""Builds a cluster in its first cycle: the partition of this rank, if partitions start at the given nodes."""


class Run:
    """A run of the cluster that `make` makes, whose description is `text`."""

    def __init__(self, text: str, make: Make, options: Options) -> None:
        options.check()
        self._text = text
        self._description: dict[str, Any] = json.loads(text)
        self._clock_hz: int = self._description["clock_hz"]
        self._make = make
        self._options = options
        self._ranks = world()
        if self._ranks and (options.pcap or options.sample_us):
            raise RackwrightError("one process captures and samples: run without mpirun")
        self._started = time.perf_counter()
        self._sampler = self._new_sampler()

    def result(self) -> ClusterResult:
        """Runs. Raises like `Cluster.run`."""
        options, until = self._options, self._cycles(self._options.until_ms * 1000)
        back = Checkpoint.read(options.restart, self._text) if options.restart else None
        if back and back.cycle > until:
            raise RackwrightError(f"the run ends before the checkpoint {options.restart}")
        try:
            runner = self._runner(until)
            if back and options.restart:
                back.enter(runner, options.restart)
            stops: list[Stop] = [self._sampler] if self._sampler else []
            stops += [Return(back)] if back else []
            stops += [Looks(self._clock_hz // _LOOKS_PER_SECOND)] if self._ranks and options.ends_with else []
            every = self._cycles(options.checkpoint_us) if options.checkpoint_us else until
            written = Checkpoints(options.checkpoint, every, self._text) if options.checkpoint else None
            busy = advance(runner, until, [*stops, written] if written else stops, self._tell)
            if written:
                written.write(runner)
            runner.machine.finish()
            return self._measured(runner.report(), threads=runner.threads, quiet=not busy)
        except RanksLost as loss:
            raise self._after(loss) from None
        except KeyboardInterrupt:
            if self._ranks:
                self._ranks.give_up()
                raise
            raise self._interrupted() from None
        except BaseException:
            if self._ranks:
                self._ranks.give_up()
            raise

    def _runner(self, until: int) -> Runner:
        if self._ranks:
            nodes = len(self._description["nodes"])
            return Together(self._ranks, self._fresh, nodes, until, self._clock_hz)
        threads = self._options.threads
        return Alone(self._fresh(None), [threads] if threads else [len(os.sched_getaffinity(0)), 1])

    def _fresh(self, starts: list[int] | None) -> _engine.Cluster:
        """A cluster with the settings that do not change during a run."""
        options, machine = self._options, self._make(starts)
        self._machine = machine
        machine.set_skip_idle(options.skip_idle)
        try:
            if options.window_cycles is not None:
                machine.set_window(options.window_cycles)
            if options.pcap:
                machine.capture(list(options.pcap_ports), str(options.pcap))
            for port in options.sample_ports:
                machine.counters(port)
            machine.end_with(list(options.ends_with))
        except _engine.EngineError as error:
            raise RackwrightError(str(error)) from None
        return machine

    def _new_sampler(self) -> Sampler | None:
        interval = self._options.sample_us
        if not interval:
            return None
        return Sampler(self._options.sample_ports, self._cycles(interval), self._clock_hz / 1e6)

    def _measured(self, report: str, *, threads: int, quiet: bool, error: str | None = None) -> ClusterResult:
        return ClusterResult.from_report(
            json.loads(report),
            wall_seconds=time.perf_counter() - self._started,
            threads=threads,
            ranks=self._ranks.size if self._ranks else 1,
            quiet=quiet,
            error=error,
            samples=self._sampler.rows if self._sampler else [],
        )

    def _after(self, loss: RanksLost) -> LostRankError:
        """The error with the lost ranks, and with the remaining measurements if this process has them."""
        ranks: Ranks | None = self._ranks
        assert ranks is not None
        names = ranks.names(loss.lost)
        cycle = self._machine.cycle
        parts = ranks.part(loss.lost, self._machine.part_report())
        now, end = cycle * 1e6 / self._clock_hz, self._options.until_ms * 1000
        message = f"{names} was lost at {now:,.1f} of {end:,.1f} us"
        if parts is None:
            return LostRankError(message, None)
        report = _engine.Cluster.assemble(cycle, self._clock_hz, [parts[rank] for rank in sorted(parts)])
        left = ", ".join(map(str, sorted(parts)))
        message = f"{message}; what ranks {left} have measured is kept"
        return LostRankError(message, self._measured(report, threads=1, quiet=False, error=message))

    def _interrupted(self) -> InterruptedRun:
        """The result after the user ends the run: everything up to the last slice."""
        self._machine.finish()
        now, end = self._machine.cycle * 1e6 / self._clock_hz, self._options.until_ms * 1000
        message = f"interrupted at {now:,.1f} of {end:,.1f} us"
        return InterruptedRun(
            message, self._measured(self._machine.report(), threads=1, quiet=False, error=message)
        )

    def _tell(self, cycle: int, until: int, rest: float) -> None:
        if self._options.progress:
            cycles_per_us = self._clock_hz / 1e6
            self._options.progress(cycle / cycles_per_us, until / cycles_per_us, rest)

    def _cycles(self, us: float) -> int:
        return round(us * self._clock_hz / 1e6)
