"""A mover around a user's unit: it moves frames between memory and the unit's AXI4-Stream ports."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bootstrap.paths import BUILD
from rackwright.errors import RackwrightError
from rackwright.files.whole import write_whole
from rackwright.hardware.designs import ParameterValue, elaborate_around, hardware_fingerprint, top_parameters
from rackwright.hardware.manifests import (
    is_elaborated,
    main_clock,
    read_manifest,
    require_one_clock,
    with_absolute_paths,
)
from rackwright.hardware.registers import Register, has_registers, register_map
from rackwright.verilog.modules import with_prefix

PAGE_BITS = 12
"""Bits of an address of the registers of a unit with a mover."""

REGISTER_PORT: dict[str, Any] = {
    "contract": "axi4-lite",
    "name": "mover_axi",
    "naming": "lower",
    "bytes": 4,
    "address_bits": PAGE_BITS,
}
"""The register port of a unit that has none of its own."""

RESET = "mover_reset"
"""The reset of the mover of a unit that has none of its own."""

BASE = 0xC00
"""Where the registers of movers begin in a unit's page of registers (`mover/RegisterRouter.scala`)."""

STRIDE = 64
"""Bytes from the registers of a stream to those of the next one (`mover/StreamRegisters.scala`)."""


def moved_manifest(manifest: Path, parameters: Mapping[str, ParameterValue]) -> Path:
    """The manifest of a user's unit within a mover for its AXI4-Stream ports.

    Its top module has got `parameters`. Each stream has a memory port, and registers in the last quarter of
    the unit's page, which are listed beside those of the unit. A unit without such streams is left as it is.
    Raises `RackwrightError` for a unit that cannot have a mover: with several clocks, or with commands or
    registers that are not behind AXI4-Lite.
    """
    record = read_manifest(manifest)
    if not _streams(record) or is_elaborated(record):
        return manifest
    # slang is loaded for units with streams alone.
    from rackwright.verilog.mover_wrapper import top_pins, wrapper

    require_one_clock(record, "a mover for its streams")
    registers = _registers(record, manifest)
    chosen = top_parameters(manifest, parameters)
    pins = top_pins(manifest, chosen)
    record = with_absolute_paths(record, manifest.absolute().parent)
    words = [hardware_fingerprint(), record, chosen, [list(pin) for pin in pins]]
    key = hashlib.sha256(json.dumps(words).encode()).hexdigest()[:16]
    folder = BUILD / "elaborated" / f"{record['unit']}-moved-{key}"
    made = folder / "manifest.json"
    if not made.exists():
        around = elaborate_around(["--mover"], record, folder)
        prefix = f"{record['top']}_"
        for name in around["verilog"]:
            path = folder / name
            write_whole(path, with_prefix(path.read_text(encoding="utf-8"), prefix))
        mover = f"{prefix}{around['top']}"
        text = wrapper(record, chosen, pins, mover, around["ports"])
        write_whole(folder / f"{prefix}moved.sv", text)
        files = [*(str(folder / name) for name in around["verilog"]), str(folder / f"{prefix}moved.sv")]
        joined = _joined(record, registers, around["ports"], files)
        write_whole(made, json.dumps(joined, indent=2) + "\n")
    return made


def lost_event(port: Mapping[str, Any]) -> str:
    """The event of transfers that leave by a stream without TREADY while its mover takes none."""
    return f"{port['name']}_lost"


def _streams(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [port for port in record["ports"] if port["contract"] == "axi4-stream"]


def _registers(record: Mapping[str, Any], manifest: Path) -> list[dict[str, Any]]:
    """The registers of the unit and those of its mover, as manifests list them."""
    ways = [
        port
        for port in record["ports"]
        if port["contract"] in ("command", "stream")
        or (has_registers(port) and port["contract"] != "axi4-lite")
    ]
    if ways:
        raise RackwrightError(
            f"{manifest}: {record['unit']} has AXI4-Stream ports and the {ways[0]['contract']} port "
            f"{ways[0]['name']}; a mover goes with registers behind AXI4-Lite, or none"
        )
    own = [
        dict(register)
        for port in record["ports"]
        if port["contract"] == "axi4-lite"
        for register in port.get("registers", ())
    ]
    for row in own:
        if row["offset"] >= BASE:
            raise RackwrightError(
                f"{manifest}: register {row['name']} is at {row['offset']:#x}, where those of the "
                f"mover for the streams are, from {BASE:#x} on"
            )
    names = {row["name"] for row in own}
    for place, port in enumerate(_streams(record)):
        for register in register_map("mover").values():
            name = f"{port['name'].lower()}_{register.name}"
            if name in names:
                raise RackwrightError(f"{manifest}: register {name} has the name of one of the mover")
            own.append(_row(register, name, BASE + STRIDE * place))
    return own


def _row(register: Register, name: str, base: int) -> dict[str, Any]:
    """A register of a mover as manifests list it."""
    fields = [
        {"name": field.name, "bit": field.bit, "bits": field.bits, "meaning": field.meaning}
        for field in register.fields
    ]
    row = {"name": name, "offset": base + register.offset, "access": register.access, "bits": 32}
    return {**row, "meaning": register.meaning, **({"fields": fields} if fields else {})}


def _joined(
    record: Mapping[str, Any],
    registers: Sequence[Mapping[str, Any]],
    around: Sequence[Mapping[str, Any]],
    files: Sequence[str],
) -> dict[str, Any]:
    """The manifest of the unit and its mover, whose ports are `around`."""
    ports = [port for port in record["ports"] if port["contract"] not in ("axi4-stream", "axi4-lite")]
    lite = next((port for port in record["ports"] if port["contract"] == "axi4-lite"), REGISTER_PORT)
    interrupt = {"contract": "interrupt", "name": "mover", "pin": "interrupt_mover"}
    own = [port for port in ports if port["contract"] != "interrupt"]
    line = next((port for port in ports if port["contract"] == "interrupt"), interrupt)
    memory = [port for port in around if port["contract"] == "memory"]
    hasty = (port for port in _streams(record) if not port.get("ready", True) and port["direction"] == "out")
    events = [{"contract": "event", "name": lost_event(port)} for port in hasty]
    clock = main_clock(record)
    return {
        **record,
        "top": f"{record['top']}_moved",
        "verilog": [*record["verilog"], *files],
        "clocks": [{**clock, "reset": clock["reset"] or RESET}],
        "ports": [{**lite, "address_bits": PAGE_BITS, "registers": registers}, *own, line, *memory, *events],
        "parameters": {},
    }
