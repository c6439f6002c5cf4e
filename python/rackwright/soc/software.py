"""What programs need to know of a chip: headers with the constants of its units."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rackwright.errors import RackwrightError
from rackwright.hardware.headers import HeaderUnit, bus_header, server_header
from rackwright.soc.check import PlacedUnit
from rackwright.soc.value import Soc

BUS_HEADER = "bus.h"
"""The header of the units that all harts reach by registers."""

SHARED_HEADER = "shared.h"
"""The header of the units that all harts share by commands."""


def interrupt_numbers(units: Sequence[PlacedUnit], tree: str) -> dict[str, list[int]]:
    """The interrupts of each unit on the buses, by its name, as the device tree of the chip numbers them."""
    numbers = {}
    for unit in units:
        if unit.registers is None or not _has_interrupt(unit):
            continue
        node = re.search(rf"\b{re.escape(unit.name)}@{unit.registers.base:x} {{(.*?)}};", tree, re.DOTALL)
        found = node and re.search(r"\binterrupts = <([\d ]+)>", node[1])
        if not found:
            raise RackwrightError(f"{unit.name}: the device tree of the chip has no interrupts for it")
        numbers[unit.name] = list(map(int, found[1].split()))
    return numbers


def write_headers(
    soc: Soc,
    units: Sequence[PlacedUnit],
    manifests: Sequence[Path],
    numbers: Mapping[str, Sequence[int]],
    made: Path,
) -> Iterator[str]:
    """A header for the programs of each hart, for shared units and those on the buses; gives their names.

    Units that list neither commands nor registers have none, nor have those beside the same hart.
    """
    pairs = list(zip(units, manifests, strict=True))
    names: dict[int | None, str] = {
        None: SHARED_HEADER,
        **{hart: f"hart{hart}.h" for hart in range(len(soc.harts))},
    }
    for hart, name in names.items():
        mine = [(unit, manifest) for unit, manifest in pairs if unit.hart == hart and unit.registers is None]
        if mine and all(_is_listed(unit) for unit, _ in mine):
            yield _written(made / name, server_header([manifest for _, manifest in mine]))
    on_buses = [
        (HeaderUnit(manifest, name=unit.name), unit.registers.base, _first(numbers.get(unit.name)))
        for unit, manifest in pairs
        if unit.registers is not None and _is_listed(unit)
    ]
    if on_buses:
        yield _written(made / BUS_HEADER, bus_header(on_buses))


def _has_interrupt(unit: PlacedUnit) -> bool:
    return any(port["contract"] == "interrupt" for port in unit.ports)


def _first(numbers: Sequence[int] | None) -> int | None:
    return numbers[0] if numbers else None


def _is_listed(unit: PlacedUnit) -> bool:
    return any(port.get("commands") or port.get("registers") for port in unit.ports)


def _written(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return path.name
