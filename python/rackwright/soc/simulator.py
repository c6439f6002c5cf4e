"""The chip alone in Verilator: compiled once for its sources, and run."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bootstrap.jobs import side_by_side
from bootstrap.paths import BUILD, LOGS
from rackwright.errors import RackwrightError
from rackwright.soc.compose import DESCRIPTION
from rackwright.soc.generator import keep
from rackwright.toolchain import compiler, verilator_root

_SIMULATORS = BUILD / "soc" / "simulators"
_VERILATOR = (
    *("--cc", "--assert", "--no-timing", "-O3"),
    # Values that RTL leaves undefined are the same in every run.
    *("--x-assign", "0", "--x-initial", "0"),
    *("-Wno-fatal", "-Wno-lint", "-Wno-style"),
    *("--output-split", "20000", "--output-split-cfuncs", "500"),
)
_COMPILER = ("-std=c++17", "-O2", "-march=native", "-DVL_TIME_CONTEXT", "-w")
_RUNTIME = ("verilated.cpp", "verilated_threads.cpp")
_OUT_OF_CYCLES, _NO_PROGRAM = 254, 255


@dataclass(frozen=True)
class SocRun:
    """The result of a program on a chip alone.

    `cycles` are counted from the first access to memory, `boot_cycles` are those before. `exit_code` is None
    if `max_cycles` was reached first.
    """

    exit_code: int | None
    cycles: int
    boot_cycles: int
    wall_seconds: float
    stdout: str


def simulator(folder: Path) -> Path:
    """The program that simulates the chip of a folder of `compose`, compiled if it was not.

    Raises `RackwrightError` with the output of Verilator or the C++ compiler.
    """
    description = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
    place = _SIMULATORS / f"{description['top']}-{_key(folder, description)}"
    program = place / "simulator"
    if not program.exists():
        _SIMULATORS.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix="making-", dir=_SIMULATORS) as work:
            made = Path(work) / "made"
            made.mkdir()
            _build(folder, description, Path(work), made / "simulator")
            keep(made, place)
    return program


def run_program(folder: Path, program: Path, max_cycles: int = 0) -> SocRun:
    """Runs a bare-metal program on the chip of a folder of `compose`.

    `max_cycles` ends a run that takes longer (0: no limit). Raises `RackwrightError` for a program that is
    none for the chip, and when an assertion of the chip's fails.
    """
    with TemporaryDirectory(prefix="rackwright-soc-") as work:
        report = Path(work) / "report.json"
        command = [str(simulator(folder)), str(program), str(max_cycles or 2**64 - 1), str(report)]
        ended = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        if not report.exists():
            raise RackwrightError(_reason(program, ended))
        record = json.loads(report.read_text(encoding="utf-8"))
    return SocRun(
        exit_code=record["exit_code"] if record["finished"] else None,
        cycles=record["cycles"],
        boot_cycles=record["boot_cycles"],
        wall_seconds=record["wall_seconds"],
        stdout=ended.stdout,
    )


def _reason(program: Path, ended: subprocess.CompletedProcess[str]) -> str:
    lines = [line.strip() for line in (ended.stderr + ended.stdout).splitlines() if line.strip()]
    if ended.returncode == _NO_PROGRAM:
        return lines[0] if lines else f"{program}: is no program"
    asserted = [line for line in lines if line.startswith("Assertion failed")]
    said = asserted or lines or [f"it ended with status {ended.returncode}"]
    return f"{program}: the chip stopped: {said[0]}"


def _verilog(description: dict[str, Any]) -> list[str]:
    """The files of a chip, with models of the memories that others bring."""
    return [*description["files"], *description["models"]]


def _key(folder: Path, description: dict[str, Any]) -> str:
    digest = hashlib.sha256(repr((_VERILATOR, _COMPILER, compiler(), str(verilator_root()))).encode())
    included = (
        path for each in description["include"] for path in (folder / each).rglob("*") if path.is_file()
    )
    verilog = [folder / name for name in _verilog(description)]
    for file in [*verilog, *sorted(included), *sorted((folder / "harness").iterdir())]:
        digest.update(f"\0{file.name}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _build(folder: Path, description: dict[str, Any], work: Path, program: Path) -> None:
    root, made = verilator_root(), work / "verilated"
    verilate = [str(root / "bin" / "verilator_bin"), *_VERILATOR, "--Mdir", str(made)]
    verilate += [f"+incdir+{each}" for each in description["include"]]
    verilate += ["--top-module", description["top"], *_verilog(description)]
    _execute(verilate, folder)
    sources = [
        *made.glob("*.cpp"),
        *(root / "include" / name for name in _RUNTIME),
        folder / "harness" / "main.cpp",
    ]
    headers = [
        f"-I{place}" for place in (made, folder / "harness", root / "include", root / "include" / "vltstd")
    ]

    def compiled(source: Path) -> str:
        target = work / f"{source.stem}.o"
        _execute([compiler(), *_COMPILER, *headers, "-c", str(source), "-o", str(target)], work)
        return str(target)

    # The largest first, because they determine the total time.
    objects = side_by_side(compiled, sorted(sources, key=lambda source: -source.stat().st_size))
    _execute([compiler(), "-o", str(program), *objects, "-pthread"], work)


def _execute(command: Sequence[str], folder: Path) -> None:
    environment = {**os.environ, "VERILATOR_ROOT": str(verilator_root())}
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if result.returncode == 0:
        return
    LOGS.mkdir(parents=True, exist_ok=True)
    (LOGS / "soc-simulator.log").write_text(result.stdout + result.stderr, encoding="utf-8")
    errors = [line for line in result.stderr.splitlines() if "rror" in line]
    raise RackwrightError(f"{Path(command[0]).name}: {errors[0] if errors else result.stderr.strip()[:300]}")
