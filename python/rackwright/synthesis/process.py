"""The rules that convert depth and gates to a clock and an area, and their source."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from rackwright.errors import RackwrightError

RULES = Path(__file__).with_name("process.toml")
"""The rules of the product, with their sources."""


@dataclass(frozen=True)
class Macro:
    """A memory macro that the user has: times in picoseconds, area in square micrometres."""

    depth: int
    width: int
    ports: str
    access_picoseconds: float
    setup_picoseconds: float
    area_um2: float


@dataclass(frozen=True)
class Process:
    """The rules of one process; process.toml describes each of them with its source."""

    fo4_picoseconds: float
    gate_equivalent_um2: float
    least_bits: float
    access_fo4_of_1024_bits: float
    access_fo4_per_doubling: float
    setup_fo4: float
    bit_um2: float
    two_port_factor: float
    array_share: float
    periphery: float
    macros: tuple[Macro, ...] = ()

    def clock_hz(self, depth_fo4: float) -> int:
        """The clock that a path of this depth allows, in whole megahertz."""
        return int(1e6 / (depth_fo4 * self.fo4_picoseconds)) * 1_000_000

    def macro(self, depth: int, width: int, ports: str) -> Macro:
        """The macro of that size and those ports: the user's own, or one derived from the rules."""
        for macro in self.macros:
            if (macro.depth, macro.width, macro.ports) == (depth, width, ports):
                return macro
        bits = depth * width
        doublings = max(0.0, math.log2(bits / 1024))
        access = self.access_fo4_of_1024_bits + self.access_fo4_per_doubling * doublings
        share = self.array_share / (1 + self.periphery / math.sqrt(bits))
        factor = 1.0 if ports == "1RW" else self.two_port_factor
        return Macro(
            depth,
            width,
            ports,
            access * self.fo4_picoseconds,
            self.setup_fo4 * self.fo4_picoseconds,
            bits * self.bit_um2 * factor / share,
        )


@dataclass(frozen=True)
class PowerRules:
    """The rules for power, of the table `[power]`."""

    volts: float
    nand_input_femtofarads: float
    nand_leakage_nanowatts: float
    access_femtojoules_per_bit: float

    def access_picojoules(self, depth: int, width: int) -> float:
        """The energy of reading or writing a word of a macro of this size."""
        return self.access_femtojoules_per_bit * width * math.sqrt(depth * width / _RULED_BITS) / 1000


_RULED_BITS = 8 * 8192
"""The macro that `access_femtojoules_per_bit` is of."""

_POWER = "power"
_MACRO_FIELDS = {field.name for field in fields(Macro)}


def load_process(own: Path | None = None) -> Process:
    """The rules of the product, with those of the file `own` in their place.

    Raises `RackwrightError` for a file that cannot be read and for a name or a value that makes no sense.
    """
    values, macros = _ruled(own, lambda table: table != _POWER)
    return Process(**values, macros=macros)


def load_power_rules(own: Path | None = None) -> PowerRules:
    """The same for the rules for power."""
    return PowerRules(**_ruled(own, lambda table: table == _POWER)[0])


def _ruled(own: Path | None, wanted: Callable[[str], bool]) -> tuple[dict[str, float], tuple[Macro, ...]]:
    """The rules of the `wanted` tables, and the macros of the user's own."""
    tables, _ = _read(RULES)
    known = {name for rules in tables.values() for name in rules}
    replaced: dict[str, dict[str, float]] = {}
    macros: tuple[Macro, ...] = ()
    if own is not None:
        replaced, macros = _read(own)
        for name in (name for rules in replaced.values() for name in rules):
            if name not in known:
                raise RackwrightError(f"{own}: {name} is not a rule; there are {', '.join(sorted(known))}")
    given = {name: value for rules in replaced.values() for name, value in rules.items()}
    ours = {name: value for table, rules in tables.items() if wanted(table) for name, value in rules.items()}
    return {name: given.get(name, value) for name, value in ours.items()}, macros


def _read(path: Path) -> tuple[dict[str, dict[str, float]], tuple[Macro, ...]]:
    """The rules of a file, by table, and its macros."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RackwrightError(f"{path}: {error}") from error
    values: dict[str, dict[str, float]] = {}
    for table, rules in tables.items():
        if table != "macro":
            if not isinstance(rules, dict):
                raise RackwrightError(f"{path}: {table} is outside of [logic], [sram] and [power]")
            values[table] = {name: _positive(path, name, value) for name, value in rules.items()}
    return values, tuple(_macro(path, entry) for entry in tables.get("macro", ()))


def _positive(path: Path, name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise RackwrightError(f"{path}: {name} is {value!r}; it must be a number above 0")
    return float(value)


def _macro(path: Path, entry: dict[str, Any]) -> Macro:
    if set(entry) != _MACRO_FIELDS:
        raise RackwrightError(f"{path}: a [[macro]] has {', '.join(sorted(_MACRO_FIELDS))}")
    if entry["ports"] not in ("1RW", "1R1W"):
        raise RackwrightError(f"{path}: ports is {entry['ports']!r}; it must be 1RW or 1R1W")
    numbers = {name: _positive(path, name, value) for name, value in entry.items() if name != "ports"}
    return Macro(
        int(numbers["depth"]),
        int(numbers["width"]),
        entry["ports"],
        numbers["access_picoseconds"],
        numbers["setup_picoseconds"],
        numbers["area_um2"],
    )
