"""Measuring calls at a point; runs in the processes of an executor."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from rackwright.codec import CodecUnit
from rackwright.exploration.point import Point
from rackwright.exploration.workload import WORKLOADS
from rackwright.generation.formats import FORMATS
from rackwright.generation.maker import SuiteFile
from rackwright.generation.suite import Suite, load_suite


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
    """What a portion gave, and how long a core of the host worked for it."""

    calls: tuple[Call, ...]
    core_seconds: float


@lru_cache(maxsize=1)
def _suite(folder: Path) -> Suite:
    return load_suite(folder)


def measure(portion: Portion) -> Measured:
    """Runs the calls of a portion on a unit fresh from reset, and checks every result.

    What is in caches depends on the calls before, so that the portion, not the call, is what comes out the
    same whoever measures it. The smallest call runs once before any counts: a unit that has just been
    reset clears its tables.
    """
    began = time.thread_time()
    suite = _suite(portion.suite)
    files = suite.only(portion.operation)
    unit = WORKLOADS[portion.point.config.unit].unit(portion.point)
    _measure(unit, suite, files, min(portion.calls, key=lambda index: files[index].size))
    calls = tuple(_measure(unit, suite, files, index) for index in portion.calls)
    return Measured(calls, time.thread_time() - began)


def _measure(unit: CodecUnit, suite: Suite, files: Sequence[SuiteFile], index: int) -> Call:
    file = files[index]
    data = suite.read(file)
    if unit.operation == "decompress":
        data = FORMATS[file.format].compress(data, file.level, file.window_log2)
    result = unit.run(data)
    return Call(
        index=index,
        uncompressed_bytes=file.size,
        compressed_bytes=result.output_bytes if unit.operation == "compress" else len(data),
        cycles=result.cycles,
        clock_hz=result.clock_hz,
        verified=result.verified,
    )
