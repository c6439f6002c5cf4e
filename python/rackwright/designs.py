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
from rackwright.elaborator import run_kept, run_once
from rackwright.errors import MissingBuildError, RackwrightError
from rackwright.manifests import is_elaborated, main_clock, read_manifest
from rackwright.toolchain import toolchain
from rackwright.whole import write_whole

if TYPE_CHECKING:
    from rackwright import _engine

ParameterValue = int | str
"""A value on the elaboration command line."""


@dataclass(frozen=True)
class UnitInfo:
    """One row of the index of units.

    `parameters` and `ports` are as the unit describes them: name, default, range and description of
    a parameter; contract and name of a port. `attach` says where it may be attached, as manifests do.
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
    """What tells the generators apart from those of other sources; empty when they were not built."""
    stamp = STAMPS / "hardware"
    return stamp.read_text(encoding="ascii") if stamp.exists() else ""


def units() -> list[UnitInfo]:
    """Every unit of hardware/, in the order of the index."""
    cached = BUILD / "hardware" / f"units-{hardware_fingerprint()[:16]}.json"
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


@dataclass(frozen=True)
class Elaboration:
    """A unit as it is to be elaborated.

    `parameters` are named as `rw units` prints them, for example `{"history-kib": 16}`. `command` is how
    commands arrive, one of `COMMANDS` of `unit_config`. `memory` is
    what memory ports become: "port" or "axi4". With `translation`, addresses are virtual, as processes of
    an operating system have them; that goes with "rocc" and "port". With `assertions`, those of its Chisel
    sources are in the Verilog: one that fails ends the run, with an error that says which. Results and
    cycles are the same.
    """

    unit: str
    parameters: Mapping[str, ParameterValue] = field(default_factory=dict)
    command: str = "rocc"
    memory: str = "port"
    translation: bool = False
    assertions: bool = False

    @property
    def folder(self) -> Path:
        """Where its Verilog and its manifest are, or come to be."""
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
        """What the elaborator is told, to write into `output`."""
        options = {"--translation": self.translation, "--assertions": self.assertions}
        chosen = [word for name, on in options.items() if on for word in (name, "on")]
        settings = [word for name, value in self._settings.items() for word in ("--set", f"{name}={value}")]
        ports = ["--command", self.command, "--memory", self.memory]
        return ["--unit", self.unit, *ports, *chosen, *settings, "--out", str(output)]

    @property
    def manifest(self) -> Path:
        """Its manifest, which says what its Verilog is."""
        return self.folder / "manifest.json"

    @property
    def _settings(self) -> dict[str, str]:
        return {name: str(value) for name, value in sorted(self.parameters.items())}


def elaborate(
    unit: str,
    parameters: Mapping[str, ParameterValue] | None = None,
    *,
    command: str = "rocc",
    memory: str = "port",
    translation: bool = False,
    assertions: bool = False,
) -> Path:
    """Writes the Verilog and the manifest of a unit; gives the path of the manifest.

    The arguments are those of `Elaboration`. The same unit with the same settings is elaborated once. Raises
    `RackwrightError` for an unknown unit or parameter and for a value out of range.
    """
    return elaborate_all([Elaboration(unit, parameters or {}, command, memory, translation, assertions)])[0]


def elaborate_all(wanted: Sequence[Elaboration]) -> list[Path]:
    """The manifests of several units, of which those that are not there yet are elaborated side by side.

    Raises `RackwrightError` as `elaborate` does; nothing new is there then.
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
    """Puts a whole elaboration in its place, where another process may have put the same one meanwhile."""
    try:
        made.rename(wanted.folder)
    except OSError:
        if not wanted.manifest.exists():
            raise


def _carry_clock(manifest: Path) -> None:
    """Has a manifest carry the clock that synthesis supports, where the table has a row for its RTL."""
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


def elaborate_foreign(record: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Elaborates translation around a user's unit in Verilog, which `record`, its manifest, describes.

    The parameters of `record` have the values that its top module gets. The Verilog around the unit goes to
    `folder`; gives the manifest of both together, which names that Verilog only. Raises `RackwrightError` for
    a unit that cannot be given translation.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="making-", dir=folder) as work:
        described, made = Path(work) / "foreign.json", Path(work) / "made"
        described.write_text(json.dumps(record), encoding="utf-8")
        command = ["--foreign", str(described), "--translation", "on", "--out", str(made)]
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
        raise RackwrightError(f"{manifest}: is elaborated already, and takes no {', '.join(parameters)}")
    if assertions:
        raise RackwrightError(f"{manifest}: is elaborated already, with assertions or without")
    return manifest


def design(
    unit: str | Path,
    parameters: Mapping[str, ParameterValue] | None = None,
    waves: bool = False,
    clock_hz: int | None = None,
    assertions: bool = False,
    plusargs: Sequence[str] = (),
) -> _engine.Design:
    """The compiled design of a unit: by name, or by the path of a manifest of your own.

    The first time takes up to a minute; compiled designs are kept by content hash. `parameters` of your own
    go to its top module, before those of its manifest. `waves` compiles it such that a run can write what its
    signals do. `clock_hz` is how fast a server clocks it, by default what its manifest says. `assertions` is
    that of `Elaboration`. `plusargs` are what `$value$plusargs` finds in the RTL, as "DEPTH=4".
    Raises `RackwrightError` as `manifest_of`, and `EngineError` for RTL that doesn't compile.
    """
    manifest = manifest_of(unit, parameters, assertions)
    given = top_parameters(manifest, parameters or {})
    return toolchain().build(str(manifest), waves, clock_hz, given, list(plusargs))


def top_parameters(manifest: Path, parameters: Mapping[str, ParameterValue]) -> dict[str, ParameterValue]:
    """The values that the top module of a manifest gets: `parameters`, before those of the manifest.

    A unit that elaboration has written gets none: they are in its Verilog. Raises `RackwrightError` for a
    parameter that the module does not have, and for a value that it cannot have.
    """
    record = read_manifest(manifest)
    given = {} if is_elaborated(record) else {**record.get("parameters", {}), **parameters}
    if not given:
        return {}
    from rackwright.verilog.parameters import check_parameters

    return check_parameters(manifest, given)
