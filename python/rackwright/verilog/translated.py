"""What is put around a user's unit in Verilog: translation of virtual addresses, or the queues of a tile."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bootstrap.paths import BUILD
from rackwright.files.whole import write_whole
from rackwright.hardware.designs import ParameterValue, elaborate_around, hardware_fingerprint, top_parameters
from rackwright.hardware.manifests import main_clock, read_manifest, require_one_clock, with_absolute_paths

_CLOCK = ("asynchronous", "hertz", "synthesised_hertz")
"""What holds of the clock of the unit and of what is around it."""

_SOFTWARE = ("record", "statuses")
"""What a manifest says of commands to those who write software."""


def translated_manifest(manifest: Path, parameters: Mapping[str, ParameterValue]) -> Path:
    """The manifest of a unit of the user's within translation, whose top module has got `parameters`.

    Its Verilog is the user's and a module around it. A unit that translates addresses already, or is reached
    by registers, is left as it is. Raises `RackwrightError` for one that cannot be given translation: without
    an idle output, or with a port that is not of our contracts.
    """
    command = _command(read_manifest(manifest))
    if command is None or command.get("translated"):
        return manifest
    return _wrapped(manifest, parameters, "translated", ["--translation", "on"])


def queued_manifest(manifest: Path, parameters: Mapping[str, ParameterValue]) -> Path:
    """The same of a unit on a tile, whose commands come from a queue.

    Raises `RackwrightError` for one without commands, and for a port that tiles do not have.
    """
    return _wrapped(manifest, parameters, "queued", ["--command", "queue"])


def _command(record: Mapping[str, Any]) -> Mapping[str, Any] | None:
    return next((port for port in record["ports"] if port["contract"] == "command"), None)


def _wrapped(
    manifest: Path, parameters: Mapping[str, ParameterValue], what: str, options: Sequence[str]
) -> Path:
    record = read_manifest(manifest)
    require_one_clock(record, "translation" if what == "translated" else "a tile")
    record["parameters"] = top_parameters(manifest, parameters)
    record = with_absolute_paths(record, manifest.absolute().parent)
    key = hashlib.sha256(json.dumps([hardware_fingerprint(), record]).encode()).hexdigest()[:16]
    folder = BUILD / "elaborated" / f"{record['unit']}-{what}-{key}"
    made = folder / "manifest.json"
    if not made.exists():
        around = elaborate_around([*options, "--foreign"], record, folder)
        write_whole(made, json.dumps(_joined(record, around), indent=2) + "\n")
    return made


def _joined(record: Mapping[str, Any], around: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest of the unit and of what is around it."""
    own = main_clock(record)
    command = _command(record) or {}
    clock = {**main_clock(around), **{key: own[key] for key in _CLOCK if key in own}}
    ports = [
        {**port, **{key: command[key] for key in _SOFTWARE if key in command}}
        if port["contract"] == "command"
        else port
        for port in around["ports"]
    ]
    files = {part: record[part] for part in ("include", "dpi", "data")}
    return {
        **around,
        **files,
        "define": record.get("define", {}),
        "verilog": [*record["verilog"], *around["verilog"]],
        "clocks": [clock],
        "ports": ports,
        "parameters": record["parameters"],
    }
