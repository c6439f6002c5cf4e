"""Speed of the official libraries on the core `boom`, with the workloads of `rw bench units`."""

from __future__ import annotations

from dataclasses import dataclass

from bootstrap.paths import REPOSITORY
from rackwright.benchmarks import compression
from rackwright.benchmarks.speeds import Speed
from rackwright.demo.archive import default_archive
from rackwright.errors import RackwrightError
from rackwright.formats import FORMATS
from rackwright.reports.records import read_records, write_records

TABLE = REPOSITORY / "validation" / "throughput" / "library.csv"

_FORMATS = {name: name for name in FORMATS} | {"combined": "zstd"}
"""The format that a compressor or a decompressor of this family is measured with."""


@dataclass(frozen=True)
class LibrarySpeed:
    """`bytes` of plain data or messages in `cycles` of `boom` at `clock_hz`, in warm caches.

    The row of the workload of `unit`, which the official library does in the unit's place.
    """

    unit: str
    bytes: int
    cycles: int
    clock_hz: int

    def speedup_of(self, speed: Speed) -> float:
        """The unit's speed relative to the library's."""
        return (speed.bytes * speed.clock_hz / speed.cycles) / (self.bytes * self.clock_hz / self.cycles)


def read_library() -> dict[str, LibrarySpeed]:
    """The committed speeds, by unit."""
    return {row.unit: row for row in read_records(TABLE, LibrarySpeed)}


def write_library(rows: list[LibrarySpeed]) -> None:
    """Replaces the rows of these units; the others stay."""
    merged = read_library() | {row.unit: row for row in rows}
    write_records(TABLE, LibrarySpeed, (merged[name] for name in sorted(merged)))


def measure_library(unit: str) -> LibrarySpeed | None:
    """The library's speed with the workload of `unit`; None if no library has the unit's function."""
    family, _, operation = unit.rpartition("-")
    if family in _FORMATS:
        return _codec(unit, _FORMATS[family], operation)
    if family == "protobuf":
        return _messages(unit, operation)
    return None


def _codec(unit: str, format_name: str, operation: str) -> LibrarySpeed:
    inputs = [("corpus", default_archive())]
    (row,) = compression.measure(inputs, format_name, operations=[operation], targets=["boom"])
    return _checked(unit, row.verified, row.uncompressed_bytes, row.cycles, row.seconds)


def _messages(unit: str, operation: str) -> LibrarySpeed:
    from rackwright.protobuf import measure
    from rackwright.protobuf.suites import chosen_suite

    rows = list(measure(chosen_suite("services"), [operation], ["boom"]))
    cycles, seconds = sum(row.cycles or 0 for row in rows), sum(row.times.again for row in rows)
    return _checked(unit, all(row.verified for row in rows), sum(r.wire_bytes for r in rows), cycles, seconds)


def _checked(unit: str, verified: bool, size: int, cycles: int | None, seconds: float) -> LibrarySpeed:
    if not verified or not cycles:
        raise RackwrightError(f"{unit}: the official library on boom disagrees with the one of this host")
    return LibrarySpeed(unit, size, cycles, round(cycles / seconds))
