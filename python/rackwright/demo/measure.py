"""Runs the benchmark on every target and checks every result here, outside the simulation."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bootstrap.paths import SOFTWARE_RISCV
from rackwright.compression import libsnappy
from rackwright.compression.baseline import measure_host
from rackwright.compression.snappy import is_verified
from rackwright.demo.rows import TARGETS, Comparison, Row
from rackwright.errors import MissingBuildError, RackwrightError
from rackwright.formats import OPERATIONS
from rackwright.machine.server import RunResult, Server
from rackwright.reports.times import Times

Progress = Callable[[str], None]
"""Called with a line about the current operation."""

_OUTPUT = "result"


@dataclass(frozen=True)
class Inputs:
    """The inputs of both operations: the archive, and the official library's compression of it."""

    plain: bytes
    packed: bytes

    @classmethod
    def of(cls, plain: bytes) -> Inputs:
        """The inputs for an archive."""
        return cls(plain, libsnappy.compress(plain))

    def of_operation(self, operation: str) -> bytes:
        """The bytes that `operation` reads."""
        return self.plain if operation == "compress" else self.packed


class _Bench:
    """The servers, built once, and the reporting of progress."""

    def __init__(self, folder: Path, detail: Progress) -> None:
        self._folder = folder
        self._detail = detail
        self._program = SOFTWARE_RISCV / "snappy-benchmark"
        if not self._program.exists():
            raise MissingBuildError("the benchmark for RV64GC")
        simulated = [target.partition("+") for target in TARGETS if target != "host"]
        self._servers = {
            "".join(parts): Server(parts[0], ["snappy"] if parts[2] else []) for parts in simulated
        }

    def measure(self, operation: str, target: str, data: bytes) -> Row:
        """One row."""
        if target == "host":
            return _host_row(operation, data)

        def show(instructions: int, cycles: int) -> None:
            self._detail(f"{operation} on {target}: {instructions:,} instructions, {cycles:,} cycles")

        engine = "unit" if target.endswith("unit") else "library"
        # A name without folders, so that the program has the same arguments wherever it runs.
        with contextlib.chdir(self._folder):
            result = self._servers[target].run(
                self._program,
                [operation, engine, "-", "--output", _OUTPUT],
                stdin=data,
                write_folder=self._folder,
                progress=show,
            )
        return _row(operation, target, data, result, self._folder / _OUTPUT)


def compare(plain: bytes, folder: Path, begin: Progress, detail: Progress) -> Comparison:
    """Measures every operation on every target.

    `folder` takes the programs' outputs. `begin` is called for each measurement, `detail` with its progress.
    """
    if not plain:
        raise RackwrightError("the input is empty")
    inputs = Inputs.of(plain)
    bench = _Bench(folder, detail)
    pairs = [(operation, target) for operation in OPERATIONS for target in TARGETS]
    rows = []
    for number, (operation, target) in enumerate(pairs, start=1):
        begin(f"{number} of {len(pairs)}: {operation} on {target}")
        rows.append(bench.measure(operation, target, inputs.of_operation(operation)))
    return Comparison(tuple(rows))


def _host_row(operation: str, data: bytes) -> Row:
    result = measure_host(operation, data)
    return Row(
        operation,
        "host",
        result.input_bytes,
        result.output_bytes,
        result.uncompressed_bytes,
        result.times,
        result.verified,
    )


def _row(operation: str, target: str, data: bytes, result: RunResult, output: Path) -> Row:
    """The row of a run; the program's own verification is repeated outside."""
    if result.exit_code != 0:
        said = (result.stderr or result.stdout).decode(errors="replace").strip()
        raise RackwrightError(f"the benchmark failed on {target}: {said}")
    report = json.loads(result.stdout)
    agrees = is_verified(operation, data, output.read_bytes(), report["status"])
    output.unlink()
    return Row(
        operation,
        target,
        report["input_bytes"],
        report["output_bytes"],
        report["uncompressed_bytes"],
        Times.of(report, result.clock_hz),
        report["verified"] and agrees,
        result.clock_hz,
        result.instructions,
        result.unit_clock_hz(f"snappy-{operation}"),
        result.unit_cycles if result.accelerators else None,
        result.wall_seconds,
        result.digest,
    )
