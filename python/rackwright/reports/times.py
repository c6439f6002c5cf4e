"""The times printed by benchmark programs (software/measure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Times:
    """Seconds of one piece of work.

    `first` is that of a program's first call, `again` of a later one on the same buffers, and `use` of
    reading the later call's result.
    """

    first: float
    again: float
    use: float

    @classmethod
    def of(cls, report: Mapping[str, Any], clock_hz: int | None) -> Times:
        """The times printed by a program on a core of `clock_hz` or (None) on the host."""
        unit, per_second = ("nanoseconds", 10**9) if clock_hz is None else ("cycles", clock_hz)
        return cls(*(report[f"{state}{unit}"] / per_second for state in ("first_", "", "use_")))
