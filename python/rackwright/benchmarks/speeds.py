"""The committed speeds of units, validation/throughput/table.csv: a row for each RTL that was measured."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from bootstrap.paths import REPOSITORY
from rackwright.reports.records import read_records, write_records

TABLE = REPOSITORY / "validation" / "throughput" / "table.csv"


@dataclass(frozen=True)
class Speed:
    """`bytes` of plain data, messages or frames in `cycles` of a clock of `clock_hz`.

    For units of protobuf that clock is the core's beside which they are; theirs is in the synthesis table.
    """

    unit: str
    rtl_hash: str
    workload: str
    bytes: int
    cycles: int
    clock_hz: int

    @property
    def gigabytes_per_second(self) -> float:
        """In 10^9."""
        return self.bytes * self.clock_hz / self.cycles / 1e9

    def record(self) -> dict[str, Any]:
        """As JSON holds it; see docs/json.md."""
        return asdict(self) | {"gigabytes_per_second": self.gigabytes_per_second}


def write_speeds(speeds: Iterable[Speed]) -> None:
    """Replaces the rows of their units; the others are not changed."""
    rows = {speed.unit: speed for speed in read_speeds().values()} | {speed.unit: speed for speed in speeds}
    write_records(TABLE, Speed, (rows[name] for name in sorted(rows)))
    read_speeds.cache_clear()


@cache
def read_speeds() -> dict[str, Speed]:
    """The committed speeds by the hash of the RTL; empty if there is no table."""
    return {row.rtl_hash: row for row in read_records(TABLE, Speed)}
