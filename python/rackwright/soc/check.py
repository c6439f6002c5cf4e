"""The rules for a chip, checked before the generator runs: every error names the conflicting places."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rackwright.errors import RackwrightError
from rackwright.hardware.manifests import FORMAT
from rackwright.soc.ports import bus_ports, hart_ports
from rackwright.soc.value import AddressRange, CacheConfig, Soc
from rackwright.unit.config import UnitConfig

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

DEBUG = AddressRange(0x0, 0x1000)
"""The debug module."""

PAGE_BYTES = 4096
"""The range of addresses of a unit's registers."""

_MOST_ADDRESS = 1 << 32

_SLOWEST_DRAM_HZ = 100_000_000


@dataclass(frozen=True)
class Route:
    """Numbers of commands, first and last of custom-`opcode`, that reach a unit."""

    opcode: int
    first: int
    last: int


@dataclass(frozen=True)
class PlacedUnit:
    """A unit: its name in the chip, its ports, and how it is reached.

    A unit beside a `hart` has `routes`, and translates addresses with `translation`. One that all harts share
    has no hart; one on the buses has `registers`, too, in place of routes.
    """

    name: str
    hart: int | None
    config: UnitConfig
    routes: tuple[Route, ...]
    ports: tuple[dict[str, Any], ...]
    registers: AddressRange | None = None
    translation: bool = False


def fixed_parts(soc: Soc) -> dict[str, AddressRange]:
    """The parts of a chip whose addresses no file sets."""
    return {**({"the debug module": DEBUG} if soc.debug else {}), **FIXED}


def checked(soc: Soc) -> list[PlacedUnit]:
    """The units of a chip that can be built, those on the buses last; no generator is started for it.

    Raises `RackwrightError` with one line that names the places that disagree.
    """
    _check_numbers(soc)
    _check_addresses(soc)
    beside = [
        unit
        for hart, config in enumerate(soc.harts)
        for unit in placed_units(f"harts[{hart}].units", config.units, hart, translation=config.translation)
    ]
    shared = list(placed_units("shared", soc.shared, None))
    _check_opcodes(beside, shared)
    units = [*beside, *shared, *_bus_units(soc)]
    if soc.joined_by is not None:
        _require(soc.joined_by in stream_pairs(units), f"pair.joined_by: {_unjoined(soc.joined_by, units)}")
    return units


def _check_opcodes(beside: Sequence[PlacedUnit], shared: Sequence[PlacedUnit]) -> None:
    """Raises `RackwrightError` for an opcode of units beside a hart that is also one of shared units."""
    for own, other in product(beside, shared):
        for opcode in {route.opcode for route in own.routes} & {route.opcode for route in other.routes}:
            raise RackwrightError(
                f"harts[{own.hart}].units ({own.name}) and shared ({other.name}) both have custom-{opcode}"
            )


def stream_pairs(units: Sequence[PlacedUnit]) -> dict[str, tuple[str, str]]:
    """Pins, out and in, of each unit with one stream in each direction, of the same width."""
    pairs = {}
    for unit in units:
        streams = [port for port in unit.ports if port["contract"] == "stream"]
        ways = {port["direction"]: f"{unit.name.replace('-', '_')}_{port['name']}" for port in streams}
        if len(streams) == len(ways) == 2 and streams[0]["bytes"] == streams[1]["bytes"]:
            pairs[unit.name] = (ways["out"], ways["in"])
    return pairs


def _unjoined(name: str, units: Sequence[PlacedUnit]) -> str:
    if name not in [unit.name for unit in units if unit.registers is not None]:
        return f"{name} is no unit on the buses of a system"
    return f"{name} has not one stream in each direction, of the same width"


def _bus_units(soc: Soc) -> Iterator[PlacedUnit]:
    """The units on the buses, each with a page of registers; those of the index get their commands there."""
    names: list[str] = []
    for place, config in enumerate(soc.units):
        placed = replace(config, command="mmio") if config.is_named else config
        ports = bus_ports(f"units[{place}]", placed)
        same = names.count(config.label)
        names.append(config.label)
        page = AddressRange(soc.registers + place * PAGE_BYTES, PAGE_BYTES)
        name = config.label if same == 0 else f"{config.label}-{same + 1}"
        yield PlacedUnit(name, None, placed, (), ports, page)


def _check_numbers(soc: Soc) -> None:
    _require(len(soc.harts) <= MOST_HARTS, f"harts: {len(soc.harts)}, at most {MOST_HARTS}")
    _require(soc.bus_bits in (64, 128, 256), f"bus_bits: {soc.bus_bits} is none of 64, 128, 256")
    _require(1 <= soc.trackers <= 64, f"trackers: {soc.trackers} is not from 1 to 64")
    _require(
        1 <= soc.memory_cycles <= 10_000, f"harness.memory_cycles: {soc.memory_cycles} is not from 1 to 10000"
    )
    _require(
        not soc.dram or soc.clock_hz >= _SLOWEST_DRAM_HZ,
        f"harness.dram: its model has no clock below 100 MHz, and system.clock_hz is {soc.clock_hz}",
    )
    _require(
        1 <= soc.link_cycles <= 1_000_000, f"harness.link_cycles: {soc.link_cycles} is not from 1 to 1000000"
    )
    _require(soc.clock_hz >= 10_000_000, f"clock_hz: {soc.clock_hz} is below the 10 MHz of mtime")
    _require(soc.clock_hz < 1 << 32, f"clock_hz: {soc.clock_hz} is beyond the 32 bits of a device tree")
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
    if soc.units:
        pages = AddressRange(soc.registers, PAGE_BYTES * len(soc.units))
        _require(
            pages.base % PAGE_BYTES == 0 and pages.end <= _MOST_ADDRESS,
            f"registers: {pages} are no pages of {PAGE_BYTES} bytes below 4 GiB",
        )
        own["registers"] = pages
    for (one, first), (other, second) in combinations((own | fixed_parts(soc)).items(), 2):
        _require(not first.overlaps(second), f"{one} ({first}) overlaps {other} ({second})")
    _check_registers(soc)


def _check_registers(soc: Soc) -> None:
    """Raises `RackwrightError` for registers of the board that are not behind the port for devices."""
    sizes = {"to_host": 8, "console": 8, "uart": PAGE_BYTES}
    places = {f"harness.{name}": AddressRange(getattr(soc, name), size) for name, size in sizes.items()}
    for name, place in places.items():
        is_there = soc.devices.base <= place.base and place.end <= soc.devices.end
        _require(
            is_there and place.base % place.size == 0,
            f"{name}: {place.base:#x} is no multiple of {place.size} in pins.devices ({soc.devices})",
        )
    for (one, first), (other, second) in combinations(places.items(), 2):
        _require(not first.overlaps(second), f"{one} and {other} are both at {second.base:#x}")


def placed_units(
    where: str, configs: Sequence[UnitConfig], hart: int | None = 0, *, translation: bool = False
) -> Iterator[PlacedUnit]:
    """The units of a hart, or of all (None), reached as a server with these units in this order has them.

    With `translation`, they translate addresses. `where` is the name of the list. Raises `RackwrightError`
    with one line that names the places in it.
    """
    from rackwright._engine import EngineError, reach

    places = [f"{where}[{place}]" for place in range(len(configs))]
    ports = [
        hart_ports(place, config, translation=translation)
        for place, config in zip(places, configs, strict=True)
    ]
    with TemporaryDirectory(prefix="rackwright-soc-") as folder:
        try:
            reached = reach(_outlines(Path(folder), configs, ports))
        except EngineError as error:
            raise RackwrightError(f"{_sharers(places, configs, ports)}: {error}") from error
    for config, port, (name, ranges, _) in zip(configs, ports, reached, strict=True):
        routes = tuple(Route(*each) for each in ranges)
        yield PlacedUnit(name, hart, config, routes, port, translation=translation)


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
