"""A complete chip as a value: its system, its pins and its simulation environment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from rackwright.errors import RackwrightError
from rackwright.files.document import DocumentReader, is_yaml, load_yaml
from rackwright.unit.config import UnitConfig

_HARNESS = ("memory_cycles", "to_host", "console", "uart", "link_cycles")
_PARTS = ("name", "pair", "system", "pins", "harness")


@dataclass(frozen=True)
class CacheConfig:
    """A level-1 cache with lines of 64 bytes."""

    sets: int = 64
    ways: int = 4


@dataclass(frozen=True)
class HartConfig:
    """A Rocket core and the units that its instructions reach.

    With `translation`, they translate addresses as the core does.
    """

    units: tuple[UnitConfig, ...] = ()
    translation: bool = False


@dataclass(frozen=True)
class AddressRange:
    """`size` bytes from `base` on."""

    base: int
    size: int

    @property
    def end(self) -> int:
        """The first address after it."""
        return self.base + self.size

    def overlaps(self, other: AddressRange) -> bool:
        """Whether an address is in both."""
        return self.base < other.end and other.base < self.end

    def __str__(self) -> str:
        return f"{self.base:#x} to {self.end - 1:#x}"


@dataclass(frozen=True)
class Soc:
    """A chip.

    All harts share the units in `shared`, which commands reach. `units` are on the buses, where all harts
    reach them by registers, a page for each from `registers` on. `bus_bits` is the width of the buses between
    harts, units and memory. `trackers` is the number of lines that the hub processes at a time to keep the
    caches coherent. `clock_hz` is the clock of the device tree and `mtime`; a simulation counts cycles.
    `memory` and `devices` are the address ranges behind the two AXI4 ports; with `debug`, harts can be halted
    and examined by pins for JTAG. In a simulation, memory answers after `memory_cycles`, or with `dram` when
    a channel of DDR4-3200 does; programs end at `to_host` and print at `console`, firmware at the serial port
    `uart`; what leaves by a stream arrives at a second chip `link_cycles` later. `checked` checks whether it
    can be built.

    With `joined_by`, there are two of these systems, each named `system_name`, whose streams of that unit are
    joined on the die.
    """

    name: str
    harts: tuple[HartConfig, ...] = (HartConfig(),)
    shared: tuple[UnitConfig, ...] = ()
    units: tuple[UnitConfig, ...] = ()
    registers: int = 0x2000_0000
    bus_bits: int = 256
    trackers: int = 16
    instruction_cache: CacheConfig = CacheConfig()
    data_cache: CacheConfig = CacheConfig()
    clock_hz: int = 2_000_000_000
    memory: AddressRange = AddressRange(0x8000_0000, 0x1000_0000)
    devices: AddressRange = AddressRange(0x1000_0000, 0x1000_0000)
    debug: bool = False
    memory_cycles: int = 12
    dram: bool = False
    to_host: int = 0x1000_1000
    console: int = 0x1000_1008
    uart: int = 0x1000_2000
    link_cycles: int = 1
    joined_by: str | None = None
    system_name: str | None = None

    @property
    def top(self) -> str:
        """The name of the top module."""
        return _module(self.name)

    @property
    def system_top(self) -> str:
        """The name of the module of a system: that of the top, unless there are two of them."""
        return _module(self.system_name or self.name)

    @property
    def prefixes(self) -> tuple[str, ...]:
        """What the names of pins begin with, for each system."""
        return ("system0_", "system1_") if self.joined_by else ("",)

    @classmethod
    def load(cls, path: Path) -> Soc:
        """Reads a YAML file; raises `RackwrightError` that names file and field."""
        reader = DocumentReader(path)
        parts = reader.mapping("it", load_yaml(path), _PARTS)
        name = parts.get("name")
        if not isinstance(name, str) or re.fullmatch(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*", name) is None:
            raise reader.error("name", f"is {name!r}, not small letters, digits and - between them")
        document = _Document(reader)
        if "pair" in parts:
            return document.pair(name, parts)
        return cls(
            name,
            **document.system(parts.get("system")),
            **document.pins(parts.get("pins")),
            **document.harness(parts.get("harness")),
        )


@dataclass(frozen=True)
class _Document:
    """The three parts of a file."""

    reader: DocumentReader

    def pair(self, name: str, parts: Mapping[str, Any]) -> Soc:
        """Two of the system of another file, which says all but the name."""
        pair = self.reader.mapping("pair", parts["pair"], ("of", "joined_by"))
        for key in ("of", "joined_by"):
            if not isinstance(pair.get(key), str):
                raise self.reader.error(f"pair.{key}", f"is {pair.get(key)!r}, not a name")
        if odd := [part for part in _PARTS[2:] if part in parts]:
            raise self.reader.error(odd[0], "is said by the file of the system; a pair has none")
        file = self.reader.path.parent / pair["of"]
        parts_of_system = load_yaml(file)
        if isinstance(parts_of_system, dict) and "pair" in parts_of_system:
            raise self.reader.error("pair.of", f"{pair['of']} is a pair itself")
        system = Soc.load(file)
        if system.name == name:
            raise self.reader.error("name", f"is {name!r}, as that of the system")
        return replace(system, name=name, joined_by=pair["joined_by"], system_name=system.name)

    def system(self, part: Any) -> dict[str, Any]:
        numbers = ("registers", "bus_bits", "trackers", "clock_hz")
        caches = ("instruction_cache", "data_cache")
        known = self.reader.mapping("system", part, ("harts", "shared", "units", *numbers, *caches))
        said = self.numbers("system", {key: known[key] for key in numbers if key in known}, numbers)
        for name in caches:
            if name in known:
                said[name] = CacheConfig(**self.numbers(f"system.{name}", known[name], _names(CacheConfig)))
        harts = known.get("harts")
        if not isinstance(harts, list) or not harts:
            raise self.reader.error("system.harts", "is not a list of at least one hart")
        said["harts"] = tuple(self._hart(f"system.harts[{place}]", hart) for place, hart in enumerate(harts))
        for name in ("shared", "units"):
            said[name] = self._units(f"system.{name}", known.get(name, []))
        return said

    def pins(self, part: Any) -> dict[str, Any]:
        pins = self.reader.mapping("pins", part, ("memory", "devices", "debug"))
        readers = {"debug": self._flag}
        return {name: readers.get(name, self._range)(f"pins.{name}", value) for name, value in pins.items()}

    def harness(self, part: Any) -> dict[str, Any]:
        said = self.reader.mapping("harness", part, ("dram", *_HARNESS))
        numbers = {name: value for name, value in said.items() if name != "dram"}
        dram = self._flag("harness.dram", said.get("dram", False))
        if dram and "memory_cycles" in numbers:
            raise self.reader.error("harness.memory_cycles", "is a fixed latency; `dram` has none")
        return {"dram": dram, **self.numbers("harness", numbers, _HARNESS)}

    def numbers(self, where: str, part: Any, known: tuple[str, ...]) -> dict[str, Any]:
        """Integers by name; 2e9 is one, and `0x10` is a number in YAML."""
        numbers = self.reader.mapping(where, part, known)
        return {name: self._number(f"{where}.{name}", value) for name, value in numbers.items()}

    def _number(self, where: str, value: Any) -> int:
        number = value
        if isinstance(value, str):
            try:
                number = float(value)
            except ValueError:
                number = None
        if isinstance(number, float) and number.is_integer():
            number = int(number)
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            raise self.reader.error(where, f"is {value!r}, not an integer")
        return number

    def _flag(self, where: str, value: Any) -> bool:
        if not isinstance(value, bool):
            raise self.reader.error(where, f"is {value!r}, not true or false")
        return value

    def _range(self, where: str, value: Any) -> AddressRange:
        numbers = self.numbers(where, value, ("base", "size"))
        if len(numbers) != 2:
            raise self.reader.error(where, "has not both a base and a size")
        return AddressRange(**numbers)

    def _hart(self, where: str, value: Any) -> HartConfig:
        hart = self.reader.mapping(where, value, ("units", "translation"))
        translation = self._flag(f"{where}.translation", hart.get("translation", False))
        return HartConfig(self._units(f"{where}.units", hart.get("units", [])), translation)

    def _units(self, where: str, units: Any) -> tuple[UnitConfig, ...]:
        if not isinstance(units, list):
            raise self.reader.error(where, "is not a list")
        configs = [self._unit(f"{where}[{place}]", unit) for place, unit in enumerate(units)]
        return tuple(member for config in configs for member in config.members())

    def _unit(self, where: str, value: Any) -> UnitConfig:
        """A unit by name, set or file beside this one; or a mapping of its name and parameters."""
        fields_ = (
            {"unit": value}
            if isinstance(value, str)
            else self.reader.mapping(where, value, ("unit", "parameters"))
        )
        unit = fields_.get("unit")
        if not isinstance(unit, str):
            raise self.reader.error(where, f"is {value!r}, not a unit")
        parameters: Mapping[str, Any] = self.reader.mapping(
            f"{where}.parameters", fields_.get("parameters"), None
        )
        if is_yaml(unit):
            return UnitConfig.load(self.reader.path.parent / unit)
        if unit.endswith(".json"):
            unit = str(self.reader.path.parent / unit)
        try:
            return UnitConfig(unit, parameters)
        except RackwrightError as error:
            raise self.reader.error(where, str(error)) from error


def _module(name: str) -> str:
    return "".join(part.capitalize() for part in re.split(r"[-_]", name)) + "Soc"


def _names(of: type) -> tuple[str, ...]:
    return tuple(each.name for each in fields(of))
