"""Instructions per second of the core models, against qemu-riscv64 on the same programs."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bootstrap.paths import SOFTWARE
from bootstrap.software import RISCV
from rackwright.demo.archive import default_archive
from rackwright.errors import RackwrightError
from rackwright.machine.programs import compile_program
from rackwright.machine.server import Server

QEMU = "qemu-riscv64"
CORES = ("functional", "rocket", "boom")
_ARCHIVE_BYTES = 1 << 22


@dataclass(frozen=True)
class CpuRow:
    """A program on a core model and in QEMU: the same instructions, medians of seconds.

    `ratio` is the model's speed over QEMU's, the median over neighbouring runs.
    """

    program: str
    cpu: str
    instructions: int
    seconds: float
    qemu_seconds: float
    ratio: float


def measure(repetitions: int = 3) -> list[CpuRow]:
    """Runs each program on each core model and in QEMU, alternately.

    Raises `RackwrightError` when QEMU is missing or its output differs from ours.
    """
    if shutil.which(QEMU) is None:
        raise RackwrightError(f"no {QEMU}; install the package qemu-user")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "archive"
        archive.write_bytes(default_archive(_ARCHIVE_BYTES))
        for name, program, arguments in _programs(archive):
            rows += [_measure(name, program, arguments, cpu, repetitions) for cpu in CORES]
    return rows


def _programs(archive: Path) -> list[tuple[str, Path, list[str]]]:
    benchmark = RISCV.directory / "snappy-benchmark"
    return [
        ("sort", compile_program([SOFTWARE / "workloads" / "sort.cpp"]), []),
        ("matrix", compile_program([SOFTWARE / "workloads" / "matrix.cpp"]), []),
        ("snappy compress", benchmark, ["compress", "library", str(archive)]),
    ]


def _measure(name: str, program: Path, arguments: list[str], cpu: str, repetitions: int) -> CpuRow:
    ours, qemu = [], []
    for _ in range(repetitions):
        result = Server(cpu).run(program, arguments)
        ours.append(result.wall_seconds)
        began = time.perf_counter()
        subprocess.run([QEMU, program, *arguments], capture_output=True, check=True)
        qemu.append(time.perf_counter() - began)
    return CpuRow(
        program=name,
        cpu=cpu,
        instructions=result.instructions,
        seconds=statistics.median(ours),
        qemu_seconds=statistics.median(qemu),
        ratio=statistics.median(its / mine for mine, its in zip(ours, qemu, strict=True)),
    )
