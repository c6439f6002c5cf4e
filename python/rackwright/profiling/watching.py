"""Settings of an observation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rackwright import _engine
    from rackwright.profiling.observed import Profile

EVERY = 100_000
"""Default number of cycles between two samples of the counters."""

SAMPLES = 1_000_000
"""Default number of samples for each hart."""


@dataclass(frozen=True)
class Watching:
    """The observed parts of a run.

    From when the trigger `start` happens (without one, from the beginning) until `stop` does, and again each
    time. Triggers are `cycle:N`, `instructions:N` (of one hart), `address:N`, `function:NAME` (also
    `function:FILE!NAME` for a file of an image), `word:N` (an instruction), `hint:N` (the instruction `slti
    x0, x0, N`), `process:NAME`, `counter:NAME>=N` and `event:NAME` (a counter rises); the last two are
    checked `every` this number of cycles.

    `counters` are recorded, or all of them; they are sampled `every` this number of cycles, and every second
    sample is discarded beyond `samples`. Only `harts` are observed, or all. The instructions executed
    meanwhile are written to the file `trace`, if given (`rackwright.read_trace`).
    """

    start: str | None = None
    stop: str | None = None
    counters: Sequence[str] = ()
    harts: Sequence[int] = ()
    every: int = EVERY
    samples: int = SAMPLES
    trace: Path | None = None

    def of_server(self, name: str) -> Watching:
        """The same of one of several servers: each has a trace of its own, with its name at the end."""
        return replace(self, trace=self.trace and self.trace.with_name(f"{self.trace.name}.{name}"))

    def observer(self) -> _engine.Observer:
        """The observer of one run. Raises `EngineError` for a trigger that is none."""
        from rackwright._engine import Observer

        return Observer(
            self.every,
            self.samples,
            list(self.counters),
            list(self.harts),
            self.start,
            self.stop,
            self.trace,
        )

    def unmet(self, made: Profile) -> list[str]:
        """A sentence for each trigger that has never occurred, and one for an incomplete trace."""
        return [*self._unmet_triggers(made), *self._lost(made)]

    def _unmet_triggers(self, made: Profile) -> list[str]:
        began, ended = made.fired
        if self.start is not None and not began:
            return [f"{self.start} never happened: nothing was observed"]
        if self.stop is not None and not ended:
            return [f"{self.stop} never happened: the observation went on to the end"]
        return []

    def _lost(self, made: Profile) -> list[str]:
        trace = made.trace
        if trace is None or trace.error is None:
            return []
        return [
            f"{self.trace}: {trace.error}: the trace has {trace.instructions:,} instructions, "
            f"{trace.lost_instructions:,} are lost"
        ]
