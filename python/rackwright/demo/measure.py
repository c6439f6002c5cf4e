"""Runs the benchmark on every target and checks every result here, outside the simulation."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bootstrap.paths import SOFTWARE_RISCV
from rackwright import libsnappy
from rackwright.baseline import measure_host
from rackwright.demo.rows import OPERATIONS, TARGETS, Comparison, Row
from rackwright.errors import MissingBuildError, RackwrightError
from rackwright.server import RunResult, Server
from rackwright.snappy import is_verified

Progress = Callable[[str], None]
"""Gets a line about what is under way."""

_OUTPUT = "result"


@dataclass(frozen=True)
class Inputs:
    """What each operation reads: the archive, and the official library's compression of it."""

    plain: bytes
    packed: bytes

    @classmethod
    def of(cls, plain: bytes) -> Inputs:
        """The inputs for an archive."""
        return cls(plain, libsnappy.compress(plain))

    def of_operation(self, operation: str) -> bytes:
        """The bytes that `operation` reads."""
        return self.plain if operation == "compress" else self.packed


def compare(plain: bytes, folder: Path, progress: Progress) -> Comparison:
    """Measures every operation on every target; `folder` takes the programs' outputs."""
    if not plain:
        raise RackwrightError("there is nothing to measure: the input is empty")
    inputs = Inputs.of(plain)
    rows = [
        _measure(operation, target, inputs.of_operation(operation), folder, progress)
        for operation in OPERATIONS
        for target in TARGETS
    ]
    return Comparison(tuple(rows))


def _measure(operation: str, target: str, data: bytes, folder: Path, progress: Progress) -> Row:
    progress(f"{operation} on {target}")
    return (
        _on_host(operation, data)
        if target == "host"
        else _simulated(operation, target, data, folder, progress)
    )


def _on_host(operation: str, data: bytes) -> Row:
    result = measure_host(operation, data)
    return Row(
        operation,
        "host",
        result.input_bytes,
        result.output_bytes,
        result.uncompressed_bytes,
        result.seconds,
        result.verified,
    )


def _simulated(operation: str, target: str, data: bytes, folder: Path, progress: Progress) -> Row:
    program = SOFTWARE_RISCV / "snappy-benchmark"
    if not program.exists():
        raise MissingBuildError("the benchmark for RV64GC")
    cpu, _, unit = target.partition("+")
    server = Server(cpu, ["snappy"] if unit else [])

    def show(instructions: int, cycles: int) -> None:
        progress(f"{operation} on {target}: {instructions:,} instructions, {cycles:,} cycles")

    arguments = [operation, "unit" if unit else "library", "-", "--output", _OUTPUT]
    result = server.run(program, arguments, stdin=data, write_folder=folder, progress=show)
    return _row(operation, target, data, result, folder / _OUTPUT)


def _row(operation: str, target: str, data: bytes, result: RunResult, output: Path) -> Row:
    """The row of a run; what the program says of itself is checked once more from outside."""
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
        report["cycles"] / result.clock_hz,
        report["verified"] and agrees,
        report["cycles"],
        result.clock_hz,
        result.instructions,
        result.unit_cycles if result.accelerators else None,
        result.wall_seconds,
        result.digest,
    )
