"""Results of the demo: one row per operation and target."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import Any

from rackwright.reports.times import Times

TARGETS = ("host", "rocket", "boom", "rocket+unit", "boom+unit")


@dataclass(frozen=True)
class Row:
    """One operation on one target.

    `times` are measured for the host, and cycles at `clock_hz` for a simulated core; `seconds` and `cycles`
    are those of a later call. `ratio` and `gigabytes_per_second` (10^9) are of uncompressed bytes. The
    fields about the simulation are None for the host, which is not simulated; `unit_clock_hz`,
    `unit_cycles` and `rtl_cycles_per_second` also for cores without a unit. `digest` is that of the run.
    """

    operation: str
    target: str
    input_bytes: int
    output_bytes: int
    uncompressed_bytes: int
    times: Times
    verified: bool
    clock_hz: int | None = None
    instructions: int | None = None
    unit_clock_hz: int | None = None
    unit_cycles: int | None = None
    wall_seconds: float | None = None
    digest: str | None = None

    @property
    def seconds(self) -> float:
        """Time of a later call."""
        return self.times.again

    @property
    def cycles(self) -> int | None:
        """The same in cycles of a simulated core."""
        return None if self.clock_hz is None else round(self.seconds * self.clock_hz)

    @property
    def gigabytes_per_second(self) -> float:
        """Uncompressed bytes per second of a later call, in 10^9; 0 when there are none."""
        return self._gigabytes_per_second(self.seconds)

    @property
    def used_gigabytes_per_second(self) -> float:
        """The same with a checksum over its result."""
        return self._gigabytes_per_second(self.seconds + self.times.use)

    @property
    def ratio(self) -> float:
        """Uncompressed bytes per compressed byte."""
        packed = self.output_bytes if self.operation == "compress" else self.input_bytes
        return self.uncompressed_bytes / packed if packed else 0.0

    @property
    def instructions_per_second(self) -> float | None:
        """Speed of the simulation: simulated instructions per second of real time."""
        return self._per_wall_second(self.instructions)

    @property
    def rtl_cycles_per_second(self) -> float | None:
        """Speed of the simulation: cycles of RTL per second of real time, over the complete run."""
        return self._per_wall_second(self.unit_cycles)

    def _gigabytes_per_second(self, seconds: float) -> float:
        return self.uncompressed_bytes / seconds / 1e9 if seconds else 0.0

    def _per_wall_second(self, count: int | None) -> float | None:
        return count / self.wall_seconds if count and self.wall_seconds else None


@dataclass(frozen=True)
class Comparison:
    """All rows of a demo."""

    rows: tuple[Row, ...]

    def speedup(self, row: Row) -> dict[str, float]:
        """The speed of `row` relative to that of each other target for the same operation."""
        others = (other for other in self.rows if other.operation == row.operation)
        return {
            other.target: row.gigabytes_per_second / other.gigabytes_per_second
            for other in others
            if other.target != row.target and other.gigabytes_per_second
        }

    @property
    def digest(self) -> str:
        """SHA-256, in hexadecimal, over the digests of all runs: equal when all of them are."""
        runs = "\n".join(f"{row.operation} {row.target} {row.digest}" for row in self.rows)
        return hashlib.sha256(runs.encode()).hexdigest()

    @property
    def verified(self) -> bool:
        """Whether every row is."""
        return all(row.verified for row in self.rows)

    def record(self) -> dict[str, Any]:
        """The output of `demo --json`, and the contents of `demo.json`; see docs/json.md."""
        return {"rows": [self._row_record(row) for row in self.rows], "digest": self.digest}

    def _row_record(self, row: Row) -> dict[str, Any]:
        fields = asdict(row)
        del fields["times"]
        return {
            **fields,
            "seconds": row.seconds,
            "first_seconds": row.times.first,
            "use_seconds": row.times.use,
            "cycles": row.cycles,
            "gigabytes_per_second": row.gigabytes_per_second,
            "ratio": row.ratio,
            "instructions_per_second": row.instructions_per_second,
            "rtl_cycles_per_second": row.rtl_cycles_per_second,
            "speedup": self.speedup(row),
        }
