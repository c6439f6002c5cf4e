"""The official library on this machine's own processor: the baseline a user already has."""

from __future__ import annotations

import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bootstrap.paths import SOFTWARE_HOST
from rackwright.errors import MissingBuildError, RackwrightError
from rackwright.reports.times import Times


@dataclass(frozen=True)
class HostResult:
    """One operation of the official library on one core of the host.

    The time of a later run is the median over runs that take at least 0.1 s together. The library is compiled
    with -O3 -march=native. `verified`: the program compared the result with the library's own.
    """

    operation: str
    input_bytes: int
    output_bytes: int
    uncompressed_bytes: int
    times: Times
    verified: bool

    @property
    def gigabytes_per_second(self) -> float:
        """Uncompressed bytes per second of a later run, in 10^9."""
        return self.uncompressed_bytes / self.times.again / 1e9

    @property
    def ratio(self) -> float:
        """Uncompressed bytes per compressed byte."""
        return self.uncompressed_bytes / min(self.input_bytes, self.output_bytes)


def measure_host(operation: str, data: bytes) -> HostResult:
    """Measures `compress` or `decompress` of `data` (decompress: of Snappy data)."""
    program = SOFTWARE_HOST / "snappy-benchmark"
    if not program.exists():
        raise MissingBuildError("the host's benchmark")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "input"
        path.write_bytes(data)
        result = subprocess.run(
            [program, operation, "library", path], capture_output=True, text=True, check=False
        )
    if result.returncode != 0:
        raise RackwrightError(f"the host's benchmark failed: {result.stderr or result.stdout}".strip())
    row = json.loads(result.stdout)
    return HostResult(
        operation,
        row["input_bytes"],
        row["output_bytes"],
        row["uncompressed_bytes"],
        Times.of(row, None),
        row["verified"],
    )
