"""The generator's description of a chip, which `soc/…/Spec.scala` reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rackwright.hardware.manifests import interrupt_pin, main_clock
from rackwright.soc.check import PlacedUnit
from rackwright.soc.pins import REGISTERS, bus_pins
from rackwright.soc.ports import own_parameters
from rackwright.soc.prefixes import by_number
from rackwright.soc.target import TARGETS, Target
from rackwright.soc.value import AddressRange, CacheConfig, Soc


def specification(
    soc: Soc,
    units: Sequence[PlacedUnit],
    records: Sequence[Mapping[str, Any]],
    target: Target = TARGETS["simulation"],
) -> dict[str, Any]:
    """The chip with these units, each with the record of its manifest, for the reader of its Verilog."""
    places = [
        [place for place, unit in enumerate(units) if unit.hart == hart] for hart in range(len(soc.harts))
    ]
    rows = list(zip(units, records, by_number(records), strict=True))
    return {
        "top": soc.system_top,
        "harts": [{"units": mine} for mine in places],
        "units": [unit_specification(*row) for row in rows if row[0].hart is not None],
        "sharedUnits": [
            unit_specification(*row) for row in rows if row[0].hart is None and row[0].registers is None
        ],
        "busUnits": [_bus_unit(*row) for row in rows if row[0].registers is not None],
        "busBytes": soc.bus_bits // 8,
        "trackers": soc.trackers,
        "icache": _cache(soc.instruction_cache),
        "dcache": _cache(soc.data_cache),
        "memory": _range(soc.memory),
        "devices": _range(soc.devices),
        "uart": soc.uart,
        "debug": soc.debug,
        "hertz": soc.clock_hz,
        "monitors": target.monitors,
        "memoriesApart": target.memories_apart,
    }


def unit_specification(
    unit: PlacedUnit, record: Mapping[str, Any], prefix: str, verilog: Sequence[str] = ()
) -> dict[str, Any]:
    """A unit in the form of `soc/…/UnitSpec.scala`.

    `prefix` is what the name of its module begins with, `verilog` are the resources that declare it.
    """
    ports = record["ports"]
    clock = main_clock(record)
    return {
        "name": unit.name,
        "module": f"{prefix}{record['top']}",
        "parameters": {} if unit.config.is_named else own_parameters(unit.config, record),
        "clock": clock["pin"],
        "reset": clock["reset"],
        "resetHigh": clock.get("active", "high") == "high",
        "idle": record.get("idle"),
        "command": next((port["name"] for port in ports if port["contract"] == "command"), None),
        "translates": any(port.get("translated", False) for port in ports),
        "routes": [
            {"opcode": route.opcode, "base": route.first, "size": route.last - route.first + 1}
            for route in unit.routes
        ],
        "memories": [
            {
                "name": port["name"],
                "bytes": port["bytes"],
                "tagBits": port["tag_bits"],
                "addressBits": port.get("address_bits", 64),
                "reads": port.get("reads", True),
                "writes": port.get("writes", True),
            }
            for port in ports
            if port["contract"] == "memory"
        ],
        "interrupts": [interrupt_pin(port) for port in ports if port["contract"] == "interrupt"],
        "verilog": list(verilog),
    }


def _bus_unit(unit: PlacedUnit, record: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """A unit on the buses in the form of `soc/…/bus/Specs.scala`."""
    assert unit.registers is not None
    return {
        "unit": unit_specification(unit, record, prefix),
        "kind": record["unit"],
        **_range(unit.registers),
        "registers": next(_registers(port) for port in record["ports"] if port["contract"] in REGISTERS),
        "managers": [
            {
                "name": port["name"],
                "bytes": port["bytes"],
                "idBits": port["id_bits"],
                "addressBits": port.get("address_bits", 64),
                "pins": _pins(port),
            }
            for port in record["ports"]
            if port["contract"] == "axi4"
        ],
        "streams": [
            {
                "name": port["name"],
                "bytes": port["bytes"],
                "out": port["direction"] == "out",
                "pins": _pins(port),
            }
            for port in record["ports"]
            if port["contract"] == "stream"
        ],
    }


def _registers(port: dict[str, Any]) -> dict[str, Any]:
    """Ours are read and written as wholes, in a page; those behind AXI4-Lite may have fewer addresses."""
    ours = port["contract"] == "mmio"
    pins = bus_pins(port)
    return {
        "contract": port["contract"],
        "bytes": 8 if ours else port["bytes"],
        "addressBits": pins["request_bits_address" if ours else "ar_bits_addr"].bits,
        "parts": not ours,
        "pins": _pins(port),
    }


def _pins(port: dict[str, Any]) -> dict[str, Any]:
    return {signal: asdict(pin) for signal, pin in bus_pins(port).items()}


def _cache(cache: CacheConfig) -> dict[str, int]:
    return {"sets": cache.sets, "ways": cache.ways}


def _range(place: AddressRange) -> dict[str, int]:
    return {"base": place.base, "size": place.size}
