"""Overhead of the engine over the RTL alone: comparison with a bare Verilator loop with the same inputs."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

from rackwright.compression import libsnappy
from rackwright.compression.snappy import SnappyUnit


@dataclass(frozen=True)
class RtlCost:
    """Seconds for the same cycles of the same unit, through the engine and bare; medians.

    `ratio` is the median of the ratios of neighbouring runs, which holds when the machine's speed
    drifts.
    """

    unit: str
    cycles: int
    engine_seconds: float
    bare_seconds: float
    ratio: float

    @property
    def cycles_per_second(self) -> float:
        """RTL cycles per second of wall time, through the engine."""
        return self.cycles / self.engine_seconds


def measure(operation: str, data: bytes, repetitions: int = 9) -> RtlCost:
    """Runs `operation` on `data` through the engine and replays its inputs in a bare loop, alternately."""
    given = data if operation == "compress" else libsnappy.compress(data)
    recorder = SnappyUnit(operation)
    recorder.unit.bench.record(True)
    recorder.run(given)
    engine, bare = [], []
    for _ in range(repetitions):
        engine.append(SnappyUnit(operation).run(given).wall_seconds)
        began = time.perf_counter()
        recorder.unit.bench.replay()
        bare.append(time.perf_counter() - began)
    return cost(recorder.unit.design.unit, recorder.unit.bench.recorded_cycles, engine, bare)


def cost(unit: str, cycles: int, engine: Sequence[float], bare: Sequence[float]) -> RtlCost:
    """Results of runs of the given number of cycles from their times in seconds; adjacent times alternate."""
    return RtlCost(
        unit=unit,
        cycles=cycles,
        engine_seconds=statistics.median(engine),
        bare_seconds=statistics.median(bare),
        ratio=statistics.median(mine / its for mine, its in zip(engine, bare, strict=True)),
    )
