"""From the name of a unit to its compiled design: elaboration with Chisel, then Verilator."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from bootstrap.paths import BUILD, HARDWARE_CLASSPATH, HARDWARE_JAR, STAMPS
from rackwright.errors import MissingBuildError, RackwrightError
from rackwright.files.whole import write_whole
from rackwright.hardware.elaborator import run_kept, run_once
from rackwright.hardware.manifests import is_elaborated, main_clock, read_manifest
from rackwright.hardware.toolchain import toolchain

if TYPE_CHECKING:
    from rackwright import _engine

ASSERTED = "RACKWRIGHT_ASSERTED"
"""An environment variable for tests: units by name, separated by spaces, that are always compiled with their
assertions, so that each is compiled once. Results, cycles and clocks are the same.
"""

ParameterValue = int | str
"""A value on the elaboration command line."""


@dataclass(frozen=True)
class UnitInfo:
    """One row of the index of units.

    `parameters` and `ports` are those of the unit's description: name, default, range and description of a
    parameter; contract and name of a port. `attach` lists the places where it may be attached, as in
    manifests.
    """

    name: str
    summary: str
    status: str
    opcodes: tuple[int, ...]
    parameters: tuple[dict[str, Any], ...]
    ports: tuple[dict[str, Any], ...]
    attach: tuple[str, ...]


def hardware_classpath() -> str:
    """The class path of the generators in hardware/."""
    if not HARDWARE_CLASSPATH.exists():
        raise MissingBuildError("hardware/")
    return f"{HARDWARE_JAR}{os.pathsep}{HARDWARE_CLASSPATH.read_text(encoding='utf-8').strip()}"


def hardware_fingerprint() -> str:
    """A key that distinguishes the generators from those of other sources; empty if they were not built."""
    stamp = STAMPS / "hardware"
    return stamp.read_text(encoding="ascii") if stamp.exists() else ""


def units() -> list[UnitInfo]:
    """Every unit of hardware/, in the order of the index."""
    cached = HARDWARE_JAR.with_name(f"units-{hardware_fingerprint()[:16]}.json")
    if not cached.exists():
        text = run_once(["--list"], hardware_classpath())
        json.loads(text)
        write_whole(cached, text)
    rows = json.loads(cached.read_text(encoding="utf-8"))["units"]
    return [
        UnitInfo(
            row["name"],
            row["summary"],
            row["status"],
            tuple(row.get("opcodes", ())),
            tuple(row["parameters"]),
            tuple(row["ports"]),
            tuple(row["attach"]),
        )
        for row in rows
    ]


def _defaults(unit: str) -> dict[str, str]:
    """The defaults of a unit's parameters by name; none for an unknown unit."""
    described = [each.parameters for each in units() if each.name == unit]
    return {each["name"]: str(each["default"]) for parameters in described for each in parameters}


@dataclass(frozen=True)
class Elaboration:
    """The elaboration of a unit.

    `parameters` are named as `rw units` prints them, for example `{"history-kib": 16}`. `command` is the
    transport of commands, one of `COMMANDS` of `unit_config`. `memory` is the form of memory ports: "port" or
    "axi4". With `translation`, addresses are virtual, as in processes of an operating system; this requires
    "rocc" or "queue", and "port". With `assertions`, the Verilog contains the assertions of the Chisel
    sources: a failing one ends the run with an error that names it. Results and cycles are the same.
    """

    unit: str
    parameters: Mapping[str, ParameterValue] = field(default_factory=dict)
    command: str = "rocc"
    memory: str = "port"
    translation: bool = False
    assertions: bool = False

    @property
    def folder(self) -> Path:
        """The folder of its Verilog and its manifest, existing or not."""
        named = [
            hardware_fingerprint(),
            self.unit,
            self._settings,
            self.command,
            self.memory,
            *(["translated"] if self.translation else []),
            *(["asserted"] if self.assertions else []),
        ]
        key = hashlib.sha256(json.dumps(named).encode()).hexdigest()[:16]
        return BUILD / "elaborated" / f"{self.unit}-{key}"

    def arguments(self, output: Path) -> list[str]:
        """The arguments of the elaborator, to write into `output`."""
        options = {"--translation": self.translation, "--assertions": self.assertions}
        chosen = [word for name, on in options.items() if on for word in (name, "on")]
        settings = [word for name, value in self._settings.items() for word in ("--set", f"{name}={value}")]
        ports = ["--command", self.command, "--memory", self.memory]
        return ["--unit", self.unit, *ports, *chosen, *settings, "--out", str(output)]

    @property
    def manifest(self) -> Path:
        """Its manifest, which names its Verilog."""
        return self.folder / "manifest.json"

    @property
    def _settings(self) -> dict[str, str]:
        """Those that are not the default, which is the same design whether or not somebody writes it."""
        defaults = _defaults(self.unit) if self.parameters else {}
        given = {name: str(value) for name, value in sorted(self.parameters.items())}
        return {name: value for name, value in given.items() if value != defaults.get(name)}


def elaborate(
    unit: str,
    parameters: Mapping[str, ParameterValue] | None = None,
    *,
    command: str = "rocc",
    memory: str = "port",
    translation: bool = False,
    assertions: bool = False,
) -> Path:
    """Writes the Verilog and the manifest of a unit; returns the path of the manifest.

    The arguments are those of `Elaboration`. The same unit with the same settings is elaborated once. Raises
    `RackwrightError` for an unknown unit or parameter and for a value out of range.
    """
    return elaborate_all([Elaboration(unit, parameters or {}, command, memory, translation, assertions)])[0]


def always_asserted(unit: str) -> bool:
    """Whether tests compile this unit only with its assertions."""
    return unit in os.environ.get(ASSERTED, "").split()


def elaborate_all(wanted: Sequence[Elaboration]) -> list[Path]:
    """The manifests of several units; missing ones are elaborated in parallel.

    Raises `RackwrightError` like `elaborate`; in this case no new files exist.
    """
    missing = [each for each in wanted if not each.manifest.exists()]
    if missing:
        folder = BUILD / "elaborated"
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix="making-", dir=folder) as work:
            made = [Path(work) / str(place) for place in range(len(missing))]
            commands = [each.arguments(path) for each, path in zip(missing, made, strict=True)]
            run_kept(commands, hardware_classpath(), hardware_fingerprint())
            for each, path in zip(missing, made, strict=True):
                _keep(path, each)
    for each in wanted:
        _carry_clock(each.manifest)
    return [each.manifest for each in wanted]


def _keep(made: Path, wanted: Elaboration) -> None:
    """Moves a complete elaboration to its place, to which another process may have moved the same one."""
    try:
        made.rename(wanted.folder)
    except OSError:
        if not wanted.manifest.exists():
            raise


def _carry_clock(manifest: Path) -> None:
    """Adds the clock that synthesis supports to a manifest, if the table has a row for its RTL."""
    from rackwright.synthesis.table import known_clock

    record = json.loads(manifest.read_text(encoding="utf-8"))
    clock, known = main_clock(record), known_clock(record["hash"])
    if clock.get("synthesised_hertz") == known:
        return
    clock.pop("synthesised_hertz", None)
    if known is not None:
        clock["synthesised_hertz"] = known
    write_whole(manifest, json.dumps(record, indent=2) + "\n")


def elaborate_class(class_name: str, classes: Path, *, assertions: bool = True) -> Path:
    """The same for a unit of the user's own.

    `class_name` is the fully qualified name of a Scala class that describes a unit, compiled into the
    folder or jar `classes`. It is elaborated on every call, because its sources are not ours to watch; with
    its assertions, unless the Verilog is for tools that don't know them.
    """
    folder = BUILD / "elaborated" / class_name
    manifest = folder / "manifest.json"
    manifest.unlink(missing_ok=True)
    arguments = ["--class", class_name, "--assertions", "on" if assertions else "off", "--out", str(folder)]
    run_once(arguments, f"{classes}:{hardware_classpath()}")
    return manifest


def elaborate_around(options: Sequence[str], record: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Elaborates what is around a user's unit in Verilog, which `record`, its manifest, describes.

    `options` are those of the elaborator, which takes the manifest after them: translation, with parameters
    of `record` that have the values of the unit's top module, or a mover for its streams. The Verilog around
    the unit is written to `folder`; returns the manifest that elaboration writes, which lists only that
    Verilog. Raises `RackwrightError` for a unit that cannot have it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="making-", dir=folder) as work:
        described, made = Path(work) / "unit.json", Path(work) / "made"
        described.write_text(json.dumps(record), encoding="utf-8")
        command = [*options, str(described), "--out", str(made)]
        run_kept([command], hardware_classpath(), hardware_fingerprint())
        manifest: dict[str, Any] = json.loads((made / "manifest.json").read_text(encoding="utf-8"))
        for name in manifest["verilog"]:
            write_whole(folder / name, (made / name).read_text(encoding="utf-8"))
    return manifest


def manifest_of(
    unit: str | Path, parameters: Mapping[str, ParameterValue] | None = None, assertions: bool = False
) -> Path:
    """The manifest of a unit by name, elaborated if it was not, or that of your own by its path.

    Raises `RackwrightError` when there is none, and for parameters that the RTL there is does not have, or
    assertions; `EngineError` for a file that is no manifest.
    """
    if not str(unit).endswith(".json"):
        return elaborate(str(unit), parameters, assertions=assertions)
    manifest = Path(unit)
    record = read_manifest(manifest)
    if parameters and is_elaborated(record):
        raise RackwrightError(
            f"{manifest}: is already elaborated; its parameters are fixed: {', '.join(parameters)}"
        )
    if assertions:
        raise RackwrightError(f"{manifest}: is elaborated already, with assertions or without")
    return manifest


def design(
    unit: str | Path,
    parameters: Mapping[str, ParameterValue] | None = None,
    waves: Path | None = None,
    clock_hz: int | None = None,
    assertions: bool = False,
    plusargs: Sequence[str] = (),
) -> _engine.Design:
    """The compiled design of a unit: by name, or by the path of a manifest of your own.

    The first time takes up to a minute; compiled designs are cached by content hash. `parameters` of a user's
    unit are those of its top module, and override its manifest. With `waves`, the design is compiled such
    that a run can record its signals. `clock_hz` is its clock on a server, by default that of its manifest.
    `assertions` is that of `Elaboration`. `plusargs` are the values for `$value$plusargs` in the RTL, such as
    "DEPTH=4". Raises `RackwrightError` as `manifest_of`, and `EngineError` for RTL that doesn't compile.
    """
    manifest = manifest_of(unit, parameters, assertions)
    given = top_parameters(manifest, parameters or {})
    return toolchain().build(str(manifest), str(waves) if waves else None, clock_hz, given, list(plusargs))


def top_parameters(manifest: Path, parameters: Mapping[str, ParameterValue]) -> dict[str, ParameterValue]:
    """The values for the top module of a manifest: `parameters`, which override those of the manifest.

    A unit written by elaboration has none: they are in its Verilog. Raises `RackwrightError` for a parameter
    that the module does not have, and for a value that it cannot have.
    """
    record = read_manifest(manifest)
    given = {} if is_elaborated(record) else {**record.get("parameters", {}), **parameters}
    if not given:
        return {}
    from rackwright.verilog.parameters import check_parameters

    return check_parameters(manifest, given)
