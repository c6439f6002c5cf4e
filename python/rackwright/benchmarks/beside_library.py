"""Measures from which size on a call is faster by a unit than by the official library."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from rackwright.benchmarks import compression
from rackwright.benchmarks.break_even import BreakEven, crossing
from rackwright.benchmarks.small import BACK_TO_BACK, SIZES, single
from rackwright.demo.archive import default_archive
from rackwright.errors import RackwrightError
from rackwright.formats import FORMATS
from rackwright.protobuf import Way
from rackwright.protobuf import measure as measure_messages
from rackwright.protobuf.suites.small import small_suite

OVER = {"host": "boom+unit", "rocket": "rocket+unit", "boom": "boom+unit"}
"""The machine with the library, and the server with the unit that is compared with it."""

MEASURED_SIZES = (16, *SIZES)

Seconds = dict[str, float]
"""The time of a later call, by target."""


def measure(unit: str, over: Sequence[str] = tuple(OVER)) -> Iterator[BreakEven]:
    """The break-even sizes of a unit with the library on `over`, for single calls of programs in warm caches.

    Raises `RackwrightError` when the official library disagrees with a result.
    """
    times = _seconds(unit, list(dict.fromkeys(target for who in over for target in (who, OVER[who]))))
    for who in over:
        points = [(size, of[OVER[who]], of[who]) for size, of in sorted(times.items())]
        yield BreakEven(unit, who, crossing(points))


def _seconds(unit: str, targets: Sequence[str]) -> dict[int, Seconds]:
    family, _, operation = unit.rpartition("-")
    found: dict[int, Seconds] = defaultdict(dict)
    if family in FORMATS:
        inputs = [(str(size), default_archive()[:size]) for size in MEASURED_SIZES]
        rows = compression.measure(inputs, family, operations=[operation], targets=targets)
        for row in rows:
            _check(row.verified, unit)
            if row.file != "total":
                found[row.uncompressed_bytes][row.target] = row.seconds
        return found
    suite = single(small_suite(MEASURED_SIZES[1:], BACK_TO_BACK))
    for message in measure_messages(suite, [operation], targets, way=Way(calls="single")):
        _check(message.verified and not message.fallbacks, unit)
        found[message.wire_bytes][message.target] = message.times.again
    return found


def _check(verified: bool, unit: str) -> None:
    if not verified:
        raise RackwrightError(f"{unit}: the official library disagrees, or has done it")
