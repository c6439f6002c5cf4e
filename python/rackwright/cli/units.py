"""`rw units`: the index of hardware units."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from rackwright.cli.output import JsonOption, print_json, print_table, results
from rackwright.designs import UnitInfo
from rackwright.designs import units as list_units
from rackwright.errors import RackwrightError
from rackwright.synthesis.table import read_table


def units(
    name: Annotated[str | None, typer.Argument(help="One unit: its parameters and ports.")] = None,
    json: JsonOption = False,
) -> None:
    """List the hardware units: what they do, their parameters, ports and status.

    Examples:
        ./rw units

        ./rw units snappy-decompress

    """
    rows = [unit for unit in list_units() if name in (None, unit.name)]
    if not rows:
        raise RackwrightError(f"no unit {name}; `./rw units` lists them")
    if json:
        print_json({"units": [asdict(unit) | _physics(unit) for unit in rows]})
    elif name is None:
        _print_index(rows)
    else:
        _print_unit(rows[0])


def _print_index(rows: list[UnitInfo]) -> None:
    columns = [("unit", "left"), ("status", "left"), ("custom", "left"), ("GHz", "right"), ("mm²", "right")]
    print_table([*columns, ("summary", "left")], [_cells(unit) for unit in rows])


def _cells(unit: UnitInfo) -> list[str]:
    physics = _physics(unit)
    clock, area = physics["clock_hz"], physics["area_mm2"]
    return [
        unit.name,
        unit.status,
        ", ".join(map(str, unit.opcodes)),
        "" if clock is None else f"{clock / 1e9:.2f}",
        "" if area is None else f"{area:.3f}",
        unit.summary,
    ]


def _physics(unit: UnitInfo) -> dict[str, float | None]:
    """Clock and area as built by default, by the committed table; None for a unit that has no row."""
    for row in read_table().values():
        if row.configuration == unit.name:
            return {"clock_hz": row.clock_hz, "area_mm2": row.area_mm2}
    return {"clock_hz": None, "area_mm2": None}


def _print_unit(unit: UnitInfo) -> None:
    results.print(f"[bold]{unit.name}[/bold] ({unit.status}): {unit.summary}\n")
    print_table(
        [("parameter", "left"), ("default", "right"), ("range", "left"), ("meaning", "left")],
        [
            (row["name"], str(row["default"]), str(row["range"]), row["description"])
            for row in unit.parameters
        ],
    )
    results.print()
    print_table(
        [("port", "left"), ("contract", "left")],
        [(port["name"], port["contract"]) for port in unit.ports],
    )
