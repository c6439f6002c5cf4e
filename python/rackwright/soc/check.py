"""The rules for a chip, checked before the generator runs: every error names the conflicting places."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rackwright.designs import Elaboration, UnitInfo, units
from rackwright.errors import RackwrightError
from rackwright.manifests import FORMAT, is_elaborated, read_manifest, require_one_clock
from rackwright.soc.value import AddressRange, CacheConfig, Soc
from rackwright.unit_config import SETS, UnitConfig

LINE_BYTES = 64
"""Ranges for caches, and for the hub."""

MOST_HARTS = 8

FIXED = {
    "the error device": AddressRange(0x3000, 0x1000),
    "the boot ROM": AddressRange(0x1_0000, 0x1_0000),
    "the timer and software interrupts (CLINT)": AddressRange(0x0200_0000, 0x1_0000),
    "the interrupt controller (PLIC)": AddressRange(0x0C00_0000, 0x0400_0000),
}
"""Parts that every chip has at the same address."""

_PORTS = ("command", "memory", "event", "interrupt")
_MOST_ADDRESS = 1 << 32


@dataclass(frozen=True)
class Route:
    """Numbers of commands, first and last of custom-`opcode`, that reach a unit."""

    opcode: int
    first: int
    last: int


@dataclass(frozen=True)
class PlacedUnit:
    """A unit of a hart: its name in the chip, how it is reached, and its manifest."""

    name: str
    hart: int
    config: UnitConfig
    routes: tuple[Route, ...]
    ports: tuple[dict[str, Any], ...]


def checked(soc: Soc) -> list[PlacedUnit]:
    """The units of a chip that can be built; no generator is started for it.

    Raises `RackwrightError` with one line that names the places that disagree.
    """
    _check_numbers(soc)
    _check_addresses(soc)
    return [
        unit
        for hart, config in enumerate(soc.harts)
        for unit in placed_units(f"harts[{hart}].units", config.units, hart)
    ]


def _check_numbers(soc: Soc) -> None:
    _require(len(soc.harts) <= MOST_HARTS, f"harts: {len(soc.harts)}, at most {MOST_HARTS}")
    _require(soc.bus_bits in (64, 128, 256), f"bus_bits: {soc.bus_bits} is none of 64, 128, 256")
    _require(1 <= soc.trackers <= 64, f"trackers: {soc.trackers} is not from 1 to 64")
    _require(
        1 <= soc.memory_cycles <= 10_000, f"harness.memory_cycles: {soc.memory_cycles} is not from 1 to 10000"
    )
    _require(soc.clock_hz >= 10_000_000, f"clock_hz: {soc.clock_hz} is below the 10 MHz of mtime")
    for name in ("instruction_cache", "data_cache"):
        cache: CacheConfig = getattr(soc, name)
        _require(
            _is_power(cache.sets) and 2 <= cache.sets <= 64,
            f"{name}.sets: {cache.sets} is no power of two up to 64",
        )
        _require(
            _is_power(cache.ways) and cache.ways <= 16,
            f"{name}.ways: {cache.ways} is no power of two up to 16",
        )


def _check_addresses(soc: Soc) -> None:
    own = {"pins.memory": soc.memory, "pins.devices": soc.devices}
    for name, place in own.items():
        _require(
            _is_power(place.size) and place.size >= 4096,
            f"{name}: {place.size:#x} bytes are no power of two of at least 4096",
        )
        _require(
            place.base % place.size == 0,
            f"{name}: its base {place.base:#x} is no multiple of its size {place.size:#x}",
        )
        _require(place.end <= _MOST_ADDRESS, f"{name}: {place} is beyond the 32 bits of an address")
    # The boot ROM enters there, and harts of the engine do.
    _require(
        soc.memory.base == 0x8000_0000, f"pins.memory: begins at {soc.memory.base:#x}, programs at 0x80000000"
    )
    for (one, first), (other, second) in combinations((own | FIXED).items(), 2):
        _require(not first.overlaps(second), f"{one} ({first}) overlaps {other} ({second})")
    for name in ("to_host", "console"):
        address = getattr(soc, name)
        is_there = soc.devices.overlaps(AddressRange(address, 8)) and address % 8 == 0
        _require(
            is_there, f"harness.{name}: {address:#x} is no multiple of 8 in pins.devices ({soc.devices})"
        )
    _require(soc.to_host != soc.console, f"harness.to_host and harness.console are both {soc.console:#x}")


def placed_units(where: str, configs: Sequence[UnitConfig], hart: int = 0) -> Iterator[PlacedUnit]:
    """The units of a hart, reached as a server with these units in this order has them.

    `where` is the name of the list. Raises `RackwrightError` with one line that names the places in it.
    """
    from rackwright._engine import EngineError, reach

    places = [f"{where}[{place}]" for place in range(len(configs))]
    ports = [_ports(place, config) for place, config in zip(places, configs, strict=True)]
    with TemporaryDirectory(prefix="rackwright-soc-") as folder:
        try:
            reached = reach(_outlines(Path(folder), configs, ports))
        except EngineError as error:
            raise RackwrightError(f"{_sharers(places, configs, ports)}: {error}") from error
    for config, port, (name, ranges, _) in zip(configs, ports, reached, strict=True):
        yield PlacedUnit(name, hart, config, tuple(Route(*each) for each in ranges), port)


def _sharers(
    places: Sequence[str], configs: Sequence[UnitConfig], ports: Sequence[Sequence[dict[str, Any]]]
) -> str:
    """The units that share an opcode, which one of them cannot."""
    taken: dict[int, str] = {}
    for place, config, of_unit in zip(places, configs, ports, strict=True):
        for opcode in next(port["opcodes"] for port in of_unit if port["contract"] == "command"):
            name = f"{place} ({config.label})"
            if taken.setdefault(opcode, name) != name:
                return f"{taken[opcode]} and {name}"
    return ", ".join(places)


def _ports(place: str, config: UnitConfig) -> tuple[dict[str, Any], ...]:
    """The ports of a unit, from its manifest if it exists."""
    if config.command != "rocc" or config.placement != "near-core" or config.settings or config.plusargs:
        raise RackwrightError(
            f"{place}: {config.unit}: a chip has units beside their hart, reached by instructions"
        )
    ports: Sequence[dict[str, Any]]
    if not config.is_named:
        ports = _own_ports(place, Path(config.unit))
    elif (manifest := Elaboration(config.unit, config.parameters).manifest).exists():
        ports = json.loads(manifest.read_text(encoding="utf-8"))["ports"]
    else:
        ports = _known(place, config).ports
    for port in ports:
        if odd := _oddity(port):
            raise RackwrightError(
                f"{place}: {config.unit}: its port {port['name']} {odd}; there are {', '.join(_PORTS)}"
            )
    if sum(port["contract"] == "command" for port in ports) != 1:
        raise RackwrightError(f"{place}: {config.unit}: has no port for commands")
    return tuple(ports)


def _oddity(port: dict[str, Any]) -> str | None:
    """The unsupported feature of a port; None if there is none."""
    if port["contract"] not in _PORTS:
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


def _own_ports(place: str, manifest: Path) -> list[dict[str, Any]]:
    try:
        record = read_manifest(manifest)
        require_one_clock(record, "a chip")
    except RackwrightError as error:
        raise RackwrightError(f"{place}: {error}") from error
    if not is_elaborated(record):
        _check_pins(place, manifest, record)
    ports: list[dict[str, Any]] = record["ports"]
    return ports


def _check_pins(place: str, manifest: Path, record: dict[str, Any]) -> None:
    """Raises `RackwrightError` when the Verilog of a user's unit has not the pins of its manifest."""
    from rackwright.soc.pins import pins_of
    from rackwright.verilog.reader import VerilogDesign, VerilogSources

    design = VerilogDesign(VerilogSources.of_manifest(manifest))
    errors = [complaint for complaint in design.complaints if complaint.is_error]
    if errors:
        raise RackwrightError(f"{place}: {errors[0].place}: {errors[0].text}")
    top = next(top for top in design.tops if top.name == record["top"])
    there = {port.name: port.type.bitWidth for port in top.body.portList}
    for pin, width in pins_of(record).items():
        if pin not in there:
            raise RackwrightError(
                f"{place}: {manifest} needs the pin {pin}, which module {record['top']} does not have"
            )
        if there[pin] != width:
            raise RackwrightError(
                f"{place}: the pin {pin} has {width} bits by {manifest}, but {there[pin]} in {record['top']}"
            )


def _outlines(
    folder: Path, configs: Sequence[UnitConfig], ports: Sequence[Sequence[dict[str, Any]]]
) -> list[Path]:
    """Manifests that state how units are reached: those of the index have no Verilog yet."""
    paths = []
    for number, (config, of_unit) in enumerate(zip(configs, ports, strict=True)):
        clock = {"pin": "clock", "reset": "reset", "hertz": 1}
        outline = {
            "format": FORMAT,
            "unit": config.label,
            "top": "Unit",
            "verilog": ["unit.sv"],
            "clocks": [clock],
            "attach": ["hart"],
            "idle": None,
        }
        path = folder / f"{number}.json"
        path.write_text(json.dumps({**outline, "ports": list(of_unit)}), encoding="utf-8")
        paths.append(path)
    return paths


def _is_power(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise RackwrightError(otherwise)
