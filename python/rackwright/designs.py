"""From the name of a unit to its compiled design: elaboration with Chisel, then Verilator."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bootstrap.paths import BUILD, HARDWARE_CLASSPATH, HARDWARE_JAR, STAMPS
from rackwright.errors import MissingBuildError, RackwrightError
from rackwright.toolchain import toolchain

if TYPE_CHECKING:
    from rackwright import _engine

ParameterValue = int | str
"""A value on the elaboration command line."""

_MAIN = "rackwright.elaborate.Main"

_JAVA_NOTE = "Picked up "
"""How Java's note on options from the environment begins; it is no reason for a failure."""


@dataclass(frozen=True)
class UnitInfo:
    """One row of the index of units.

    `parameters` and `ports` are as the unit describes them: name, default, range and description of
    a parameter; contract and name of a port.
    """

    name: str
    summary: str
    status: str
    opcodes: tuple[int, ...]
    parameters: tuple[dict[str, Any], ...]
    ports: tuple[dict[str, Any], ...]


def _java(arguments: list[str], classpath: str) -> str:
    """Runs the elaborator; gives what it prints. Raises `RackwrightError` with the line that says why."""
    command = ["java", "-cp", classpath, _MAIN, *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        lines = (result.stdout + result.stderr).strip().splitlines()
        reasons = [line for line in lines if not line.startswith(_JAVA_NOTE)]
        raise RackwrightError(reasons[0] if reasons else f"{_MAIN} failed")
    return result.stdout


def hardware_classpath() -> str:
    """The class path of the generators in hardware/."""
    if not HARDWARE_CLASSPATH.exists():
        raise MissingBuildError("hardware/")
    return f"{HARDWARE_JAR}{os.pathsep}{HARDWARE_CLASSPATH.read_text(encoding='utf-8').strip()}"


def _hardware_fingerprint() -> str:
    stamp = STAMPS / "hardware"
    return stamp.read_text(encoding="ascii") if stamp.exists() else ""


def units() -> list[UnitInfo]:
    """Every unit of hardware/, in the order of the index."""
    cached = BUILD / "hardware" / f"units-{_hardware_fingerprint()[:16]}.json"
    if not cached.exists():
        text = _java(["--list"], hardware_classpath())
        json.loads(text)
        cached.write_text(text, encoding="utf-8")
    rows = json.loads(cached.read_text(encoding="utf-8"))["units"]
    return [
        UnitInfo(
            row["name"],
            row["summary"],
            row["status"],
            tuple(row.get("opcodes", ())),
            tuple(row["parameters"]),
            tuple(row["ports"]),
        )
        for row in rows
    ]


def elaborate(
    unit: str,
    parameters: Mapping[str, ParameterValue] | None = None,
    *,
    command: str = "rocc",
    memory: str = "port",
    translation: bool = False,
) -> Path:
    """Writes the Verilog and the manifest of a unit; gives the path of the manifest.

    `parameters` are named as `rw units` prints them, for example `{"history-kib": 16}`. `command` is how
    commands arrive: "rocc" or "mmio", a memory-mapped queue. `memory` is what memory ports become: "port"
    or "axi4". With `translation`, addresses are virtual, as processes of an operating system have them; that
    goes with "rocc" and "port". The same unit with the same settings is elaborated once. Raises
    `RackwrightError` for an unknown unit or parameter and for a value out of range.
    """
    settings = {name: str(value) for name, value in sorted((parameters or {}).items())}
    named = [
        _hardware_fingerprint(),
        unit,
        settings,
        command,
        memory,
        *(["translated"] if translation else []),
    ]
    key = json.dumps(named).encode()
    folder = BUILD / "elaborated" / f"{unit}-{hashlib.sha256(key).hexdigest()[:16]}"
    arguments = ["--unit", unit, "--command", command, "--memory", memory]
    if translation:
        arguments += ["--translation", "on"]
    for name, value in settings.items():
        arguments += ["--set", f"{name}={value}"]
    return _elaborate_into(folder, arguments, hardware_classpath())


def elaborate_class(class_name: str, classes: Path) -> Path:
    """The same for a unit of the user's own.

    `class_name` is the fully qualified name of a Scala class that describes a unit, compiled into the
    folder or jar `classes`. It is elaborated on every call, because its sources are not ours to watch.
    """
    folder = BUILD / "elaborated" / class_name
    manifest = folder / "manifest.json"
    manifest.unlink(missing_ok=True)
    return _elaborate_into(folder, ["--class", class_name], f"{classes}:{hardware_classpath()}")


def _elaborate_into(folder: Path, arguments: list[str], classpath: str) -> Path:
    manifest = folder / "manifest.json"
    if not manifest.exists():
        folder.mkdir(parents=True, exist_ok=True)
        _java([*arguments, "--out", str(folder)], classpath)
    return manifest


def manifest_of(unit: str | Path, parameters: Mapping[str, ParameterValue] | None = None) -> Path:
    """The manifest of a unit by name, elaborated if it was not, or that of your own by its path.

    Raises `RackwrightError` when there is none, and for parameters of RTL that is there already.
    """
    if not str(unit).endswith(".json"):
        return elaborate(str(unit), parameters)
    manifest = Path(unit)
    if not manifest.exists():
        raise RackwrightError(f"{manifest}: no such manifest")
    if parameters:
        raise RackwrightError(f"{manifest}: is elaborated already, and takes no {', '.join(parameters)}")
    return manifest


def design(
    unit: str | Path,
    parameters: Mapping[str, ParameterValue] | None = None,
    waves: bool = False,
    clock_hz: int | None = None,
) -> _engine.Design:
    """The compiled design of a unit: by name, or by the path of a manifest of your own.

    The first time takes up to a minute; compiled designs are kept by content hash. `waves` compiles
    it such that a run can write what its signals do. `clock_hz` is how fast a server clocks it, by default
    what its manifest says.
    """
    return toolchain().build(str(manifest_of(unit, parameters)), waves, clock_hz)
