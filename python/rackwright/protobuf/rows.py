"""Measurements and their averages."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rackwright.reports.times import Times


@dataclass(frozen=True)
class Row:
    """One benchmark's messages, parsed or serialized once each, on one target.

    `calls` is "batch" if all messages are passed to the unit at once, "single" if one at a time. `times` are
    for all messages: in the program's first run, in a later one, and for using its results: a walk over every
    object by the library, or a checksum over the bytes. `cycles` is None on the host, `unit_clock_hz` without
    a unit. `fallbacks` counts the calls that the unit left to the library, by reason. `status` is "ok", or
    "malformed" when the library refuses a message.
    """

    benchmark: str
    operation: str
    target: str
    messages: int
    wire_bytes: int
    calls: str
    times: Times
    cycles: int | None
    verified: bool
    status: str
    group: str = ""
    reasons: dict[str, int] = field(default_factory=dict)
    unit_clock_hz: int | None = None

    @property
    def gigabits_per_second(self) -> float:
        """Serialized bits per second of a later run, in 10^9."""
        return self._gigabits_per_second(self.times.again)

    @property
    def first_gigabits_per_second(self) -> float:
        """The same of the first run."""
        return self._gigabits_per_second(self.times.first)

    @property
    def used_gigabits_per_second(self) -> float:
        """The same of a later run whose results are used."""
        return self._gigabits_per_second(self.times.again + self.times.use)

    def _gigabits_per_second(self, seconds: float) -> float:
        return 8 * self.wire_bytes / seconds / 1e9

    @property
    def fallbacks(self) -> int:
        """Calls that the unit left to the library."""
        return sum(self.reasons.values())

    @property
    def cycles_per_byte(self) -> float | None:
        """Cycles of the core for a byte of serialized data."""
        return self.cycles / self.wire_bytes if self.cycles is not None and self.wire_bytes else None

    def record(self) -> dict[str, Any]:
        """The row as JSON; see docs/json.md."""
        derived = {
            "gigabits_per_second": self.gigabits_per_second,
            "first_gigabits_per_second": self.first_gigabits_per_second,
            "used_gigabits_per_second": self.used_gigabits_per_second,
            "fallbacks": self.fallbacks,
        }
        return {key: value for key, value in asdict(self).items() if key != "times"} | derived


@dataclass(frozen=True)
class Summary:
    """The geometric mean, over the benchmarks of a group, of the speed-up of `target` over `over`.

    `speedup` is for a later run of each, `first_speedup` for the first one, `used_speedup` for a later one
    whose results are used. The time of calls that the unit left to the library is in it; `fallbacks` is their
    share of all, `reasons` their numbers by reason. `messages` are those of the smallest batch: a host learns
    the branches of a small batch, because it processes the same one repeatedly.
    """

    operation: str
    group: str
    target: str
    over: str
    speedup: float
    first_speedup: float
    used_speedup: float
    benchmarks: int
    messages: int
    fallbacks: float
    reasons: dict[str, int]

    def record(self) -> dict[str, Any]:
        """The summary as JSON; see docs/json.md."""
        return asdict(self)


def geometric_mean(values: Sequence[float]) -> float:
    """The n-th root of the product of n positive numbers."""
    return math.exp(sum(map(math.log, values)) / len(values))


def _left_to_the_library(rows: Collection[Row]) -> tuple[float, dict[str, int]]:
    """The share of messages that a unit left to the library, and their numbers by reason."""
    reasons: Counter[str] = Counter()
    for row in rows:
        reasons.update(row.reasons)
    return reasons.total() / max(1, sum(row.messages for row in rows)), dict(reasons)


def _summary(rows: Sequence[Row], operation: str, group: str, target: str, over: str) -> Summary | None:
    """One target over another; None when no benchmark was measured on both."""

    def on(machine: str) -> dict[str, Row]:
        return {
            row.benchmark: row
            for row in rows
            if (row.operation, row.group, row.target) == (operation, group, machine)
        }

    units, others = on(target), on(over)
    pairs = [(others[name].times, row.times) for name, row in units.items() if name in others]
    if not pairs:
        return None
    again = geometric_mean([other.again / unit.again for other, unit in pairs])
    first = geometric_mean([other.first / unit.first for other, unit in pairs])
    used = geometric_mean([(other.again + other.use) / (unit.again + unit.use) for other, unit in pairs])
    least = min(units[name].messages for name in units if name in others)
    left = _left_to_the_library(units.values())
    return Summary(operation, group, target, over, again, first, used, len(pairs), least, *left)


def summarize(rows: Iterable[Row]) -> list[Summary]:
    """Every target with a unit over the others, for each operation and group, as far as measured."""
    rows = list(rows)
    targets = list(dict.fromkeys(row.target for row in rows))
    found = (
        _summary(rows, operation, group, target, over)
        for operation, group in dict.fromkeys((row.operation, row.group) for row in rows)
        for target in targets
        if target.endswith("+unit")
        for over in targets
        if not over.endswith("+unit")
    )
    return [summary for summary in found if summary is not None]
