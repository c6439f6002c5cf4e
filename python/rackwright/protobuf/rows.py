"""What was measured, and its averages."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Row:
    """One benchmark's messages, parsed or serialized once each, on one target.

    `cycles` is None on the host, `unit_clock_hz` without a unit. `fallbacks` counts the calls that the
    unit left to the library, by reason. `status` is "ok", or "malformed" when the library refuses a message.
    """

    benchmark: str
    operation: str
    target: str
    messages: int
    wire_bytes: int
    cycles: int | None
    seconds: float
    verified: bool
    status: str
    group: str = ""
    reasons: dict[str, int] = field(default_factory=dict)
    unit_clock_hz: int | None = None

    @property
    def gigabits_per_second(self) -> float:
        """Serialized bits per second, in 10^9."""
        return 8 * self.wire_bytes / self.seconds / 1e9

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
        derived = {"gigabits_per_second": self.gigabits_per_second, "fallbacks": self.fallbacks}
        return {key: value for key, value in asdict(self).items() if key != "seconds"} | derived


@dataclass(frozen=True)
class Summary:
    """The geometric mean, over the benchmarks of a group, of how much faster `target` is than `over`.

    The time of calls that the unit left to the library is in it; `fallbacks` is their share of all,
    `reasons` their numbers by reason. `messages` are those of the smallest batch: a host learns one of few
    messages by heart, as it is given the same one again and again.
    """

    operation: str
    group: str
    target: str
    over: str
    speedup: float
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


def _left_to_the_library(
    rows: Sequence[Row], operation: str, group: str, target: str
) -> tuple[float, dict[str, int]]:
    """The share of messages that a target's unit left to the library, and their numbers by reason."""
    measured = [row for row in rows if (row.operation, row.group, row.target) == (operation, group, target)]
    reasons: Counter[str] = Counter()
    for row in measured:
        reasons.update(row.reasons)
    return reasons.total() / max(1, sum(row.messages for row in measured)), dict(reasons)


def summarize(rows: Iterable[Row]) -> list[Summary]:
    """Every target with a unit over the others, for each operation and group, as far as measured."""
    rows = list(rows)
    seconds = {(row.operation, row.group, row.target, row.benchmark): row.seconds for row in rows}
    batches = {(row.operation, row.group, row.benchmark): row.messages for row in rows}
    targets = list(dict.fromkeys(key[2] for key in seconds))
    summaries = []
    for operation, group in dict.fromkeys(key[:2] for key in seconds):
        for target in (each for each in targets if each.endswith("+unit")):
            for over in (each for each in targets if not each.endswith("+unit")):
                ratios = {
                    name: seconds[operation, group, over, name] / taken
                    for (of, among, on, name), taken in seconds.items()
                    if (of, among, on) == (operation, group, target)
                    and (operation, group, over, name) in seconds
                }
                if ratios:
                    mean = geometric_mean(list(ratios.values()))
                    least = min(batches[operation, group, name] for name in ratios)
                    left = _left_to_the_library(rows, operation, group, target)
                    summaries.append(Summary(operation, group, target, over, mean, len(ratios), least, *left))
    return summaries
