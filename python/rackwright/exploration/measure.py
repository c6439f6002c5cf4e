"""Measuring calls at a point; runs in the processes of an executor."""

from __future__ import annotations

import time
from dataclasses import dataclass

from rackwright.exploration.calls import Call, CallSource
from rackwright.exploration.point import Point


@dataclass(frozen=True)
class Portion:
    """Calls that are measured one after the other on one unit; `number` is the place in the sample."""

    point: Point
    source: CallSource
    number: int
    calls: tuple[int, ...]


@dataclass(frozen=True)
class Measured:
    """The results of a portion, and the core time of the host for it."""

    calls: tuple[Call, ...]
    core_seconds: float


def measure(portion: Portion) -> Measured:
    """Runs the calls of a portion on a unit fresh from reset, and checks every result.

    The contents of caches depend on earlier calls, so that the portion, not the call, is the reproducible
    unit. The smallest call runs once before any counts: a unit that has just been reset clears its tables.
    """
    began = time.thread_time()
    calls = portion.source.open()
    session = calls.session(portion.point)
    session.call(min(portion.calls, key=lambda index: calls.known[index][0]))
    measured = tuple(session.call(index) for index in portion.calls)
    return Measured(measured, time.thread_time() - began)
