"""The chip alone in Verilator: compiled once for its sources, and run."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bootstrap.jobs import side_by_side
from bootstrap.paths import BUILD, LOGS, SOC_DRAM
from rackwright.errors import RackwrightError
from rackwright.hardware.toolchain import compiler, verilator_root
from rackwright.soc.composition import DESCRIPTION
from rackwright.soc.generator import keep

_SIMULATORS = BUILD / "soc" / "simulators"
_VERILATOR = (
    *("--cc", "--assert", "--no-timing", "-O3"),
    # Values that RTL leaves undefined are the same in every run.
    *("--x-assign", "0", "--x-initial", "0"),
    *("-Wno-fatal", "-Wno-lint", "-Wno-style"),
    # A TileLink monitor of a bus with 8,192 sources has numbers of 65,539 bits.
    *("--max-num-width", "1048576"),
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

    The harness is compiled apart from the model of the chip, which takes minutes. Raises `RackwrightError`
    with the output of Verilator or the C++ compiler.
    """
    description = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
    top, model_key = description["top"], _model_key(folder, description)
    key = hashlib.sha256(model_key.encode())
    for file in sorted((folder / "harness").iterdir()):
        _add_file(key, file)
    place = _SIMULATORS / f"{top}-{key.hexdigest()[:16]}"
    if not place.exists():
        model = _SIMULATORS / f"{top}-model-{model_key[:16]}"
        _make(model, lambda made: _build_model(folder, description, made))
        _make(place, lambda made: _build(folder, model, made))
    return place / "simulator"


def _make(place: Path, build: Callable[[Path], None]) -> None:
    """Has `build` fill a folder, unless it is there."""
    if place.exists():
        return
    _SIMULATORS.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="making-", dir=_SIMULATORS) as work:
        made = Path(work) / "made"
        made.mkdir()
        build(made)
        keep(made, place)


def run_program(
    folder: Path,
    program: Path,
    max_cycles: int = 0,
    *,
    arguments: Sequence[str] = (),
    second: Path | None = None,
    frames: Path | None = None,
) -> SocRun:
    """Runs a bare-metal program with its `arguments` on the chip of a folder of `compose`.

    `second` is the program of the second system of the chip, or, for a chip with streams, that of a second
    chip that they join; the run ends with the first program. The frames on that link are written to the file
    `frames`, as pcap. `max_cycles` ends a run that takes longer (0: no limit). Raises `RackwrightError` for a
    program that is none for the chip, for a chip without streams, and when an assertion of the chip's fails.
    """
    description = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
    _check_programs(description, second, frames)
    with TemporaryDirectory(prefix="rackwright-soc-") as work:
        report = Path(work) / "report.json"
        options = ["--report", str(report)]
        options += ["--max-cycles", str(max_cycles)] if max_cycles else []
        options += ["--frames", str(frames)] if frames else []
        options += ["--dram", str(SOC_DRAM)] if description["dram"] else []
        others = ["--", str(second)] if second else []
        command = [str(simulator(folder)), *options, str(program), *arguments, *others]
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


def _check_programs(description: dict[str, Any], second: Path | None, frames: Path | None) -> None:
    top = description["top"]
    if description["systems"] == 2 and second is None:
        raise RackwrightError(f"{top}: has two systems: --second is the program of the other one")
    if second is not None and description["systems"] == 1 and not description["streams"]:
        raise RackwrightError(
            f"--second: {top} has no streams by which it could be joined with a second chip"
        )
    if frames is not None and not description["streams"]:
        raise RackwrightError(f"--frames: {top} has no streams at its pins")


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


def _model_key(folder: Path, description: dict[str, Any]) -> str:
    digest = hashlib.sha256(repr((_VERILATOR, _COMPILER, compiler(), str(verilator_root()))).encode())
    included = (
        path for each in description["include"] for path in (folder / each).rglob("*") if path.is_file()
    )
    verilog = [folder / name for name in _verilog(description)]
    for file in [*verilog, *sorted(included)]:
        _add_file(digest, file)
    return digest.hexdigest()


def _add_file(digest: hashlib._Hash, file: Path) -> None:
    digest.update(f"\0{file.name}\0".encode())
    digest.update(file.read_bytes())


def _build_model(folder: Path, description: dict[str, Any], made: Path) -> None:
    """Verilates and compiles a chip into `made`: objects and headers."""
    root = verilator_root()
    verilate = [str(root / "bin" / "verilator_bin"), *_VERILATOR, "--Mdir", str(made)]
    verilate += [f"+incdir+{each}" for each in description["include"]]
    verilate += ["--top-module", description["top"], *_verilog(description)]
    _execute(verilate, folder)
    sources = [*made.glob("*.cpp"), *(root / "include" / name for name in _RUNTIME)]
    # The largest first, because they determine the total time.
    sources.sort(key=lambda source: -source.stat().st_size)
    side_by_side(lambda source: _compile(source, [made], made), sources)
    for source in made.glob("*.cpp"):
        source.unlink()


def _build(folder: Path, model: Path, made: Path) -> None:
    """Compiles the harness of a chip into `made`, and links it with the model."""
    harness = folder / "harness"
    objects = [*sorted(model.glob("*.o")), _compile(harness / "main.cpp", [model, harness], made)]
    _execute([compiler(), "-o", str(made / "simulator"), *map(str, objects), "-pthread"], made)


def _compile(source: Path, include: Sequence[Path], made: Path) -> Path:
    target = made / f"{source.stem}.o"
    root = verilator_root() / "include"
    headers = [f"-I{place}" for place in (*include, root, root / "vltstd")]
    _execute([compiler(), *_COMPILER, *headers, "-c", str(source), "-o", str(target)], made)
    return target


def _execute(command: Sequence[str], folder: Path) -> None:
    environment = {**os.environ, "VERILATOR_ROOT": str(verilator_root())}
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if result.returncode == 0:
        return
    LOGS.mkdir(parents=True, exist_ok=True)
    (LOGS / "soc-simulator.log").write_text(result.stdout + result.stderr, encoding="utf-8")
    errors = [line for line in result.stderr.splitlines() if "rror" in line]
    raise RackwrightError(f"{Path(command[0]).name}: {errors[0] if errors else result.stderr.strip()[:300]}")
