"""Formats by the official libraries and by the units: on the host, on simulated cores, beside them."""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from bootstrap.compression import benchmark
from bootstrap.software import HOST, RISCV
from rackwright.errors import MissingBuildError, RackwrightError
from rackwright.formats import CODECS, OPERATIONS, Codec
from rackwright.hardware.clocks import clock_of
from rackwright.hardware.designs import ParameterValue, elaborate
from rackwright.machine.parameters import ServerParameters
from rackwright.machine.server import Server
from rackwright.reports.times import Times
from rackwright.synthesis.table import row_of_manifest
from rackwright.unit.config import UnitConfig

TARGETS = ("host", "rocket", "rocket+unit", "boom", "boom+unit")
"""The target: the library on this machine or on a simulated core, or the unit beside that core."""

MEMORY = ("warm", "cold")
"""The state of caches: after a first run, or cold. The host's are always warm."""


@dataclass(frozen=True)
class Row:
    """One operation on one file by one target.

    `ratio` is that of the target's own result, `library_ratio` that of the library at `level`. `cycles` are
    of the core's clock, null on the host. Clock, its source (`rackwright.hardware.clocks`) and area are those
    of the unit, if one is used; the area is null if the unit has not been synthesised. `memory` is the
    initial state of the caches; `use_seconds` is the time of a checksum over the result.
    """

    file: str
    format: str
    operation: str
    level: int | None
    target: str
    memory: str
    uncompressed_bytes: int
    compressed_bytes: int
    library_compressed_bytes: int
    seconds: float
    use_seconds: float
    cycles: int | None
    unit_clock_hz: int | None
    unit_clock_source: str | None
    area_mm2: float | None
    verified: bool

    @property
    def gigabytes_per_second(self) -> float:
        """Uncompressed bytes per second, in 10^9."""
        return self.uncompressed_bytes / self.seconds / 1e9

    @property
    def used_gigabytes_per_second(self) -> float:
        """The same with a checksum over the result."""
        return self.uncompressed_bytes / (self.seconds + self.use_seconds) / 1e9

    def record(self) -> dict[str, Any]:
        """As JSON holds it; see docs/json.md."""
        speed, area = self.gigabytes_per_second, self.area_mm2
        return asdict(self) | {
            "gigabytes_per_second": speed,
            "gigabytes_per_second_per_mm2": None if area is None else speed / area,
            "ratio": self.uncompressed_bytes / self.compressed_bytes,
            "library_ratio": self.uncompressed_bytes / self.library_compressed_bytes,
        }


@dataclass(frozen=True)
class _Unit:
    """Properties of a unit that are known before it runs."""

    name: str
    clock_hz: int
    clock_source: str
    area_mm2: float | None


def measure(
    inputs: Sequence[tuple[str, bytes]],
    format_name: str,
    *,
    level: int | None = None,
    operations: Sequence[str] = OPERATIONS,
    targets: Sequence[str] = ("host", "boom", "boom+unit"),
    memory: str = "warm",
    parameters: Mapping[str, ParameterValue] | None = None,
    clock: str | None = None,
    timing: ServerParameters | None = None,
    begin: Callable[[str], None] = lambda _: None,
) -> Iterator[Row]:
    """A row for every operation, target and input, and after the inputs of each target their total.

    `memory` is "warm" or "cold", `timing` has numbers of caches and DRAM that replace the defaults;
    `parameters` and `clock` are those of the units. Every result is compared with the official library in
    this process. Raises `RackwrightError` for empty inputs.
    """
    codec = CODECS[format_name]
    chosen = codec.level(level)
    empty = [name for name, data in inputs if not data]
    if empty:
        raise RackwrightError(f"{empty[0]} is empty; nothing to measure")
    if not benchmark(HOST, format_name, "library").exists():
        raise MissingBuildError("the benchmark of formats", "./rw bench compression")
    for operation in operations:
        for target in targets:
            unit = (parameters or {}, clock)
            run = _Target(codec, operation, target, memory, unit, timing)
            rows = []
            for name, plain in inputs:
                begin(f"{format_name} {operation} on {target}: {name}")
                rows.append(run.measure(name, plain, chosen))
                yield rows[-1]
            if len(rows) > 1:
                yield total(rows)


def total(rows: Sequence[Row]) -> Row:
    """All files of a target as if they were one."""
    cycles = [row.cycles for row in rows if row.cycles is not None]
    return replace(
        rows[0],
        file="total",
        uncompressed_bytes=sum(row.uncompressed_bytes for row in rows),
        compressed_bytes=sum(row.compressed_bytes for row in rows),
        library_compressed_bytes=sum(row.library_compressed_bytes for row in rows),
        seconds=sum(row.seconds for row in rows),
        use_seconds=sum(row.use_seconds for row in rows),
        cycles=sum(cycles) if cycles else None,
        verified=all(row.verified for row in rows),
    )


class _Target:
    """One operation of a format on one target."""

    def __init__(
        self,
        codec: Codec,
        operation: str,
        target: str,
        memory: str,
        unit: tuple[Mapping[str, ParameterValue], str | None],
        timing: ServerParameters | None,
    ) -> None:
        self._codec, self._operation, self._target = codec, operation, target
        cpu, _, with_unit = target.partition("+")
        self._memory = "warm" if cpu == "host" else memory
        parameters, clock = unit
        config = UnitConfig(f"{codec.family}-{operation}", parameters, clock=clock)
        self._unit = _unit(config) if with_unit else None
        self._program = benchmark(
            HOST if cpu == "host" else RISCV, codec.name, "unit" if self._unit else "library"
        )
        units = [config] if with_unit else []
        self._server = None if cpu == "host" else Server(cpu, units, timing=timing)

    def measure(self, name: str, plain: bytes, level: int | None) -> Row:
        """The row of one file; raises `RackwrightError` when the program fails."""
        packed = self._codec.compress(plain, level)
        compressing = self._operation == "compress"
        # The output buffer of a compression has the size of the format's bound.
        arguments = [self._operation, str(level or 0), str(0 if compressing else len(plain))]
        times, hertz, output = self._run(arguments, plain if compressing else packed)
        unit = self._unit
        seconds = times.first if self._memory == "cold" else times.again
        return Row(
            file=name,
            format=self._codec.name,
            operation=self._operation,
            level=level,
            target=self._target,
            memory=self._memory,
            uncompressed_bytes=len(plain),
            compressed_bytes=len(output) if compressing else len(packed),
            library_compressed_bytes=len(packed),
            seconds=seconds,
            use_seconds=times.use,
            cycles=None if hertz is None else round(seconds * hertz),
            unit_clock_hz=unit.clock_hz if unit else None,
            unit_clock_source=unit.clock_source if unit else None,
            area_mm2=unit.area_mm2 if unit else None,
            verified=(self._codec.unpack(output, len(plain)) if compressing else output) == plain,
        )

    def _run(self, arguments: Sequence[str], data: bytes) -> tuple[Times, int | None, bytes]:
        """The duration, the clock of a simulated core, and the result."""
        with tempfile.TemporaryDirectory(prefix="rackwright-bench-") as folder:
            result = Path(folder) / "result"
            if self._server is None:
                ended = subprocess.run(
                    [self._program, *arguments, result], input=data, capture_output=True, check=False
                )
                hertz: int | None
                status, said, complaint, hertz = ended.returncode, ended.stdout, ended.stderr, None
            else:
                # A name without folders, so that the program has the same arguments wherever it runs.
                with contextlib.chdir(folder):
                    run = self._server.run(
                        self._program, [*arguments, "result"], stdin=data, write_folder=Path(folder)
                    )
                status, said, complaint, hertz = run.exit_code, run.stdout, run.stderr, run.clock_hz
            if status != 0:
                text = complaint.decode(errors="replace").strip()
                raise RackwrightError(f"the benchmark failed on {self._target}: {text}")
            return Times.of(json.loads(said), hertz), hertz, result.read_bytes()


def _unit(config: UnitConfig) -> _Unit:
    manifest = elaborate(config.unit, config.parameters)
    clock = clock_of(manifest, config.clock)
    row = row_of_manifest(manifest)
    return _Unit(config.unit, clock.hertz, clock.source, None if row is None else row.area_mm2)
