"""From which size on a call is faster by a unit than by the official library, and the committed table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil

from bootstrap.paths import REPOSITORY
from rackwright.reports.records import read_records, write_records

TABLE = REPOSITORY / "validation" / "small" / "break_even.csv"

NEVER = -1
"""In the committed table: the library is faster at the largest size."""


@dataclass(frozen=True)
class BreakEven:
    """From `bytes` on, a call of `unit` is at least as fast as one of the official library on `over`.

    Between measured sizes, it is the intersection of straight lines through both. The smallest measured size
    also stands for all smaller ones; null: the library is faster at the largest size.
    """

    unit: str
    over: str
    bytes: int | None


@dataclass(frozen=True)
class CommittedBreakEven:
    """A row of the committed table; `NEVER` stands for null."""

    unit: str
    over: str
    bytes: int


def crossing(points: Sequence[tuple[int, float, float]]) -> int | None:
    """The size from which on the second number of (size, unit, library) is at most the third.

    Sizes ascend. None when it is not so at the last size.
    """
    found: int | None = None
    before: tuple[int, float] | None = None
    for size, unit, library in points:
        ahead = library - unit
        if ahead < 0:
            found = None
        elif found is None:
            found = size if before is None else ceil(_zero(before, (size, ahead)))
        before = size, ahead
    return found


def _zero(below: tuple[int, float], above: tuple[int, float]) -> float:
    """The zero crossing of a line from a negative to a non-negative value."""
    (start, less), (end, more) = below, above
    return start + (end - start) * -less / (more - less)


def read_table() -> dict[str, int | None]:
    """The break-even sizes of units with the library on `boom`, from the committed table."""
    rows = read_records(TABLE, CommittedBreakEven)
    return {row.unit: None if row.bytes == NEVER else row.bytes for row in rows if row.over == "boom"}


def write_table(found: Iterable[BreakEven]) -> None:
    """Replaces the rows of the same units and cores; the host has none."""
    rows = {(row.unit, row.over): row for row in read_records(TABLE, CommittedBreakEven)}
    for each in found:
        if each.over != "host":
            size = NEVER if each.bytes is None else each.bytes
            rows[each.unit, each.over] = CommittedBreakEven(each.unit, each.over, size)
    write_records(TABLE, CommittedBreakEven, (rows[key] for key in sorted(rows)))
