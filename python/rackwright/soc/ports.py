"""The ports of a chip's units, from their manifests, and whether a chip has a place for each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rackwright.errors import RackwrightError
from rackwright.hardware.designs import Elaboration, UnitInfo, units
from rackwright.hardware.manifests import is_elaborated, read_manifest, require_one_clock
from rackwright.soc.pins import REGISTERS, pins_of
from rackwright.unit.config import SETS, UnitConfig

_OF_HARTS = ("command", "memory", "event", "interrupt")
_OF_BUSES = (*REGISTERS, "memory", "axi4", "stream", "event", "interrupt")


_WALK = {"contract": "memory", "name": "walk", "bytes": 16, "tag_bits": 1, "address_bits": 64}
"""The port by which translation reads page tables (`TranslatedUnit.scala`)."""

_FAULT = {"name": "fault", "funct": 127}
"""The command that translation adds."""


def hart_ports(place: str, config: UnitConfig, *, translation: bool = False) -> tuple[dict[str, Any], ...]:
    """The ports of a unit beside a hart, at `place` in the file of the chip, with `translation` if it is on.

    Raises `RackwrightError` with one line for a unit that cannot be there.
    """
    if config.command != "rocc" or not _is_plain(config):
        raise RackwrightError(
            f"{place}: {config.unit}: a chip has units beside their hart, reached by instructions"
        )
    ports = _ports(place, config, _OF_HARTS)
    if translation:
        if not config.is_named:
            raise RackwrightError(f"{place}: {config.unit}: translation is for units of `./rw units`")
        ports = (*(_translated(port) for port in ports), _WALK)
    if sum(port["contract"] == "command" for port in ports) != 1:
        raise RackwrightError(f"{place}: {config.unit}: has no port for commands")
    return ports


def bus_ports(place: str, config: UnitConfig) -> tuple[dict[str, Any], ...]:
    """The ports of a unit on the buses, which has one port for registers; raises as `hart_ports`."""
    if not _is_plain(config):
        raise RackwrightError(f"{place}: {config.unit}: units of a chip have no placement and no settings")
    ports = _ports(place, config, _OF_BUSES)
    registers = sum(port["contract"] in REGISTERS for port in ports)
    if registers != 1:
        raise RackwrightError(
            f"{place}: {config.unit}: has {registers} ports for registers; a unit on the buses has one"
        )
    return ports


def _is_plain(config: UnitConfig) -> bool:
    return config.placement == "near-core" and not config.settings and not config.plusargs


def _ports(place: str, config: UnitConfig, there: Sequence[str]) -> tuple[dict[str, Any], ...]:
    """The ports of a unit, from its manifest if it exists; all of contracts that are `there`."""
    ports: Sequence[dict[str, Any]]
    if not config.is_named:
        ports = _own_ports(place, config)
    elif (manifest := Elaboration(config.unit, config.parameters, config.command).manifest).exists():
        ports = json.loads(manifest.read_text(encoding="utf-8"))["ports"]
    else:
        ports = [_adapted(port, config.command) for port in _known(place, config).ports]
    for port in ports:
        if odd := _oddity(port, there):
            raise RackwrightError(
                f"{place}: {config.unit}: its port {port['name']} {odd}; there are {', '.join(there)}"
            )
    return tuple(ports)


def _adapted(port: dict[str, Any], command: str) -> dict[str, Any]:
    """A port of the index, behind the registers that elaboration puts in front of commands."""
    if command == "mmio" and port["contract"] == "command":
        return {**port, "contract": "mmio", "name": "mmio"}
    return port


def _translated(port: dict[str, Any]) -> dict[str, Any]:
    """A port of a unit as translation passes it on."""
    if port["contract"] != "command":
        return port
    return {**port, "translated": True, "commands": [*port.get("commands", []), _FAULT]}


def _oddity(port: dict[str, Any], there: Sequence[str]) -> str | None:
    """The unsupported feature of a port; None if there is none."""
    if port["contract"] not in there:
        return f"is {port['contract']}"
    if port.get("translated"):
        return "is a port that translates"
    # A client of the bus is not notified of writes to lines that it does not hold.
    return "watches lines" if port.get("watch") else None


def _known(place: str, config: UnitConfig) -> UnitInfo:
    """A unit of the index, which has such parameters."""
    unit = next((unit for unit in units() if unit.name == config.unit), None)
    if unit is None:
        raise RackwrightError(
            f"{place}: no unit is named {config.unit}; `./rw units` lists them; sets: {', '.join(SETS)}"
        )
    names = [parameter["name"] for parameter in unit.parameters]
    odd = [name for name in config.parameters if name not in names]
    if odd:
        raise RackwrightError(
            f"{place}: {config.unit} has no parameter {odd[0]}; there are {', '.join(names)}"
        )
    return unit


def own_parameters(config: UnitConfig, record: Mapping[str, Any]) -> dict[str, int]:
    """The parameters of a user's unit as the generator passes them; none if they are in its Verilog already.

    Raises `RackwrightError` for those that its top module does not have, and for values that it cannot have.
    """
    given = {**record.get("parameters", {}), **config.parameters}
    if is_elaborated(dict(record)):
        if config.parameters:
            raise RackwrightError(f"{config.unit}: was elaborated, and has the parameters of that")
        return {}
    if not given:
        return {}
    # slang is loaded for units with parameters alone.
    from rackwright.verilog.parameters import check_parameters

    chosen = {}
    for name, value in check_parameters(Path(config.unit), given).items():
        if not isinstance(value, int):
            raise RackwrightError(f"{config.unit}: {name}={value} is no integer, as parameters in a chip are")
        chosen[name] = value
    return chosen


def _own_ports(place: str, config: UnitConfig) -> list[dict[str, Any]]:
    manifest = Path(config.unit)
    try:
        record = read_manifest(manifest)
        require_one_clock(record, "a chip")
        parameters = own_parameters(config, record)
        if not is_elaborated(record):
            _check_pins(manifest, record, parameters)
    except RackwrightError as error:
        raise RackwrightError(f"{place}: {error}") from error
    ports: list[dict[str, Any]] = record["ports"]
    return ports


def _check_pins(manifest: Path, record: dict[str, Any], parameters: Mapping[str, int]) -> None:
    """Raises `RackwrightError` when the Verilog of a user's unit has not the pins of its manifest."""
    from rackwright.verilog.reader import VerilogDesign, VerilogSources

    sources = VerilogSources.of_manifest(manifest)
    design = VerilogDesign(sources)
    if parameters:
        from rackwright.verilog.parameters import written_of

        design = VerilogDesign(sources, written_of(sources, parameters))
    errors = [complaint for complaint in design.complaints if complaint.is_error]
    if errors:
        raise RackwrightError(f"{errors[0].place}: {errors[0].text}")
    top = next(top for top in design.tops if top.name == record["top"])
    there = {port.name: port.type.bitWidth for port in top.body.portList}
    connected = pins_of(record)
    inputs = [port.name for port in top.body.portList if port.direction.name == "In"]
    if open_ := [pin for pin in inputs if pin not in connected and not _is_optional(pin, record)]:
        raise RackwrightError(
            f"the input {open_[0]} of module {record['top']} is of no port in {manifest}: "
            "nothing would drive it"
        )
    for pin, width in connected.items():
        if pin not in there:
            raise RackwrightError(
                f"{manifest} needs the pin {pin}, which module {record['top']} does not have"
            )
        if there[pin] != width:
            raise RackwrightError(
                f"the pin {pin} has {width} bits by {manifest}, but {there[pin]} in {record['top']}"
            )


def _is_optional(pin: str, record: dict[str, Any]) -> bool:
    """Whether it is one of the signals of AXI that masters and slaves may leave open, such as `RUSER`."""
    buses = [port["name"] for port in record["ports"] if port["contract"].startswith("axi4")]
    return any(pin.startswith(f"{name}_") for name in buses)
