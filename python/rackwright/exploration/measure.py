"""Measuring calls at a point; runs in the processes of an executor."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from rackwright import libsnappy
from rackwright.exploration.point import Point
from rackwright.generation.suite import Suite, load_suite
from rackwright.snappy import SnappyUnit


@dataclass(frozen=True)
class Call:
    """One call at one point: `index` is its place among the suite's calls of the unit's operation."""

    index: int
    uncompressed_bytes: int
    compressed_bytes: int
    cycles: int
    clock_hz: int
    verified: bool

    @property
    def seconds(self) -> float:
        """Simulated time from the first command to the completion."""
        return self.cycles / self.clock_hz


@dataclass(frozen=True)
class Portion:
    """Calls that are measured one after the other on one unit; `number` is the place in the sample."""

    point: Point
    suite: Path
    operation: str
    number: int
    calls: tuple[int, ...]


@dataclass(frozen=True)
class Measured:
    """What a portion gave, and the real time it took."""

    calls: tuple[Call, ...]
    wall_seconds: float


@lru_cache(maxsize=1)
def _suite(folder: Path) -> Suite:
    return load_suite(folder)


def measure(portion: Portion) -> Measured:
    """Runs the calls of a portion on a unit fresh from reset, and checks every result.

    What is in caches depends on the calls before, so that the portion, not the call, is what comes out the
    same whoever measures it. The first call runs once more before it counts: a unit that has just been
    reset clears its tables.
    """
    began = time.perf_counter()
    suite = _suite(portion.suite)
    files = suite.only(portion.operation)
    unit = _unit(portion.point)
    _measure(unit, suite.read(files[portion.calls[0]]), portion.calls[0])
    calls = tuple(_measure(unit, suite.read(files[index]), index) for index in portion.calls)
    return Measured(calls, time.perf_counter() - began)


def _unit(point: Point) -> SnappyUnit:
    settings: dict[str, Any] = dict(point.settings)
    operation = point.unit.removeprefix("snappy-")
    return SnappyUnit(operation, parameters=dict(point.parameters), placement=point.placement, **settings)


def _measure(unit: SnappyUnit, plain: bytes, index: int) -> Call:
    packed = libsnappy.compress(plain)
    compressing = unit.operation == "compress"
    result = unit.run(plain if compressing else packed)
    return Call(
        index=index,
        uncompressed_bytes=len(plain),
        compressed_bytes=result.output_bytes if compressing else len(packed),
        cycles=result.cycles,
        clock_hz=result.clock_hz,
        verified=result.verified,
    )
