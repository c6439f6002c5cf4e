"""Speed and ratio of the Snappy units over a set of files, against the official library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rackwright.compression import libsnappy
from rackwright.compression.snappy import SnappyUnit
from rackwright.hardware.clocks import ClockSource
from rackwright.hardware.designs import ParameterValue


@dataclass(frozen=True)
class FileRow:
    """One file through one unit.

    `uncompressed_bytes` per `cycles` is its speed; `library_ratio` is the ratio of libsnappy.
    """

    file: str
    operation: str
    uncompressed_bytes: int
    compressed_bytes: int
    library_compressed_bytes: int
    cycles: int
    clock_hz: int
    clock_source: ClockSource
    verified: bool

    @property
    def gigabytes_per_second(self) -> float:
        """Uncompressed bytes over simulated time."""
        return self.uncompressed_bytes * self.clock_hz / self.cycles / 1e9

    @property
    def ratio(self) -> float:
        """Uncompressed bytes over the bytes that the unit wrote (or read)."""
        return self.uncompressed_bytes / self.compressed_bytes

    @property
    def library_ratio(self) -> float:
        """Uncompressed bytes over the bytes that libsnappy makes."""
        return self.uncompressed_bytes / self.library_compressed_bytes

    def record(self) -> dict[str, Any]:
        """The row as JSON."""
        derived = {
            "gigabytes_per_second": self.gigabytes_per_second,
            "ratio": self.ratio,
            "library_ratio": self.library_ratio,
        }
        return asdict(self) | derived


def total(rows: Sequence[FileRow]) -> FileRow:
    """All files as if they were one: total bytes over total time, total bytes over total bytes."""
    return FileRow(
        file="total",
        operation=rows[0].operation,
        uncompressed_bytes=sum(row.uncompressed_bytes for row in rows),
        compressed_bytes=sum(row.compressed_bytes for row in rows),
        library_compressed_bytes=sum(row.library_compressed_bytes for row in rows),
        cycles=sum(row.cycles for row in rows),
        clock_hz=rows[0].clock_hz,
        clock_source=rows[0].clock_source,
        verified=all(row.verified for row in rows),
    )


def measure(
    operation: str,
    inputs: Sequence[tuple[str, bytes]],
    *,
    parameters: Mapping[str, ParameterValue] | None = None,
    history_kib: int | None = None,
    hash_entries: int | None = None,
    placement: str = "near-core",
    clock: str | None = None,
    memory: Mapping[str, int] | None = None,
) -> Iterator[FileRow]:
    """Runs every input, a name and its bytes, through one unit; yields a row after each.

    The input of a decompressor is libsnappy's output for the file.
    """
    unit = SnappyUnit(
        operation,
        parameters=parameters,
        history_kib=history_kib,
        hash_entries=hash_entries,
        placement=placement,
        clock=clock,
        memory=memory,
    )
    for name, plain in inputs:
        packed = libsnappy.compress(plain)
        result = unit.run(plain if operation == "compress" else packed)
        yield FileRow(
            file=name,
            operation=operation,
            uncompressed_bytes=len(plain),
            compressed_bytes=result.output_bytes if operation == "compress" else len(packed),
            library_compressed_bytes=len(packed),
            cycles=result.cycles,
            clock_hz=result.clock_hz,
            clock_source=result.clock_source,
            verified=result.verified,
        )
