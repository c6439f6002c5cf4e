"""Translation of virtual addresses around a user's unit in Verilog, for processes of an operating system."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
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
    record = read_manifest(manifest)
    command = next((port for port in record["ports"] if port["contract"] == "command"), None)
    if command is None or command.get("translated"):
        return manifest
    require_one_clock(record, "translation")
    record["parameters"] = top_parameters(manifest, parameters)
    record = with_absolute_paths(record, manifest.absolute().parent)
    key = hashlib.sha256(json.dumps([hardware_fingerprint(), record]).encode()).hexdigest()[:16]
    folder = BUILD / "elaborated" / f"{record['unit']}-translated-{key}"
    made = folder / "manifest.json"
    if not made.exists():
        around = elaborate_around(["--translation", "on", "--foreign"], record, folder)
        write_whole(made, json.dumps(_joined(record, command, around), indent=2) + "\n")
    return made


def _joined(
    record: Mapping[str, Any], command: Mapping[str, Any], around: Mapping[str, Any]
) -> dict[str, Any]:
    """The manifest of the unit and of what is around it."""
    own = main_clock(record)
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
