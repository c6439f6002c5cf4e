"""`rw units`: the index of hardware units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from rackwright.benchmarks.break_even import read_table as read_break_even
from rackwright.benchmarks.speeds import read_speeds
from rackwright.cli.accelerate import write_output
from rackwright.cli.output import JsonOption, print_json, print_table, results
from rackwright.cli.settings import parse_settings
from rackwright.errors import RackwrightError
from rackwright.hardware.designs import UnitInfo
from rackwright.hardware.designs import units as list_units
from rackwright.hardware.manifests import read_manifest
from rackwright.hardware.registers import register_bytes, register_rows, registers_of
from rackwright.synthesis.table import read_table
from rackwright.verilog.known import Known


def units(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Units, or manifests: their parameters, commands, registers, ports. Or `scan` and a design."
        ),
    ] = None,
    header: Annotated[
        Path | None,
        typer.Option(
            help="Write how C programs reach these units (names, sets, a manifest.json, a unit.yaml) when a "
            "server has them, in this order; `-` prints it."
        ),
    ] = None,
    rdl: Annotated[
        Path | None, typer.Option(help="Write the registers of this unit as a register map in SystemRDL.")
    ] = None,
    top: Annotated[
        str | None, typer.Option(help="scan: the top module, if there are several candidates.")
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="scan: the target of a core file; `default` if none is named.")
    ] = None,
    clock: Annotated[
        str | None, typer.Option(help="scan: the clock, if its name does not identify it.")
    ] = None,
    reset: Annotated[
        str | None, typer.Option(help="scan: the reset, if its name does not identify it.")
    ] = None,
    include: Annotated[list[Path] | None, typer.Option(help="scan: a folder of included files.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="PARAMETER=VALUE",
            help="scan: a parameter of the top module or, as PORT.PARAMETER, of an interface that is its "
            "port; widths of buses may depend on it. Repeatable.",
        ),
    ] = None,
    registers: Annotated[
        Path | None,
        typer.Option(help="scan: a register map in SystemRDL, of the registers behind its register port."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="scan: the manifest, manifest.json by default.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """List the hardware units: what they do, parameters, commands, registers, ports and status.

    `scan FILES` reads a design of yours, in SystemVerilog, a list of such files (.f) or a core file of
    FuseSoC (.core), finds its clock, its reset and its buses by the names of its pins, and writes a manifest
    for you to complete.

    Examples:
        ./rw units

        ./rw units snappy-decompress

        ./rw units snappy zstd --header units.h

        ./rw units scan rtl/files.f --top Dma -o manifest.json

        ./rw units scan dma.core --target sim

        ./rw units scan rtl/dma.v --set DATA_WIDTH=64 --registers dma.rdl -o manifest.json

        ./rw units nic --rdl nic.rdl

    """
    if names and names[0] == "scan":
        folders = tuple(include or ())
        known = Known(top, target, folders, clock, reset, parse_settings(settings), registers)
        _scan(names[1:], output, json, known)
        return
    if any((top, target, clock, reset, include, settings, registers, output)):
        raise RackwrightError(
            "--top, --target, --clock, --reset, --include, --set, --registers and --output go with scan: "
            "./rw units scan FILES --top NAME"
        )
    if rdl is not None:
        _write_register_map(names or [], rdl)
        return
    if header is not None:
        _write_header(names or [], header)
        return
    manifests = [name for name in names or () if name.endswith(".json")]
    if manifests:
        _print_manifests(manifests, [name for name in names or () if name not in manifests], json)
        return
    rows = list_units()
    strangers = set(names or ()) - {unit.name for unit in rows}
    if strangers:
        raise RackwrightError(f"no unit {min(strangers)}; `./rw units` lists them")
    if json:
        chosen = [unit for unit in rows if not names or unit.name in names]
        print_json({"units": [asdict(unit) | _physics(unit) for unit in chosen]})
    elif not names:
        _print_index(rows)
    else:
        for name in names:
            _print_unit(next(unit for unit in rows if unit.name == name))


def _scan(files: list[str], output: Path | None, json: bool, known: Known) -> None:
    from rackwright.verilog.scan import scan

    if not files:
        raise RackwrightError("scan is for files: ./rw units scan TOP.sv")
    path = output or Path("manifest.json")
    if output is None and path.exists():
        raise RackwrightError(f"{path}: already exists; use -o for another path")
    found = scan([Path(file) for file in files], path.absolute().parent, known)
    found.write(path)
    if json:
        print_json({"manifest": str(path), "remarks": found.remarks})
        return
    results.print(f"{path}: unit {found.manifest['unit']}, to be completed", highlight=False)
    for remark in found.remarks:
        results.print(f"  {remark}", highlight=False, soft_wrap=True)


def _print_manifests(manifests: list[str], others: list[str], json: bool) -> None:
    if others:
        raise RackwrightError(
            f"{others[0]}: describe units by name and units by manifest in separate commands"
        )
    records = [read_manifest(Path(name)) for name in manifests]
    if json:
        print_json({"manifests": dict(zip(manifests, records, strict=True))})
        return
    for name, record in zip(manifests, records, strict=True):
        hertz = ", ".join(f"{clock['hertz'] / 1e9:g} GHz" for clock in record["clocks"])
        results.print(
            f"[bold]{record['unit']}[/bold] ({name}): module {record['top']}, {hertz}; {_places(record)}\n"
        )
        print_table(
            [("parameter", "left"), ("value", "right")],
            [(parameter, str(value)) for parameter, value in record.get("parameters", {}).items()],
        )
        results.print()
        _print_ports(record["ports"])


def _places(record: Mapping[str, Any]) -> str:
    """The places where a unit may be attached, in words."""
    return f"attached to: {', '.join(record['attach']) or 'nothing, it is used alone'}"


def _write_header(names: list[str], path: Path) -> None:
    from rackwright.unit.accelerators import header_of_units
    from rackwright.unit.config import unit_configs

    if not names:
        raise RackwrightError("--header is for units that are named: ./rw units snappy --header units.h")
    header = header_of_units(unit_configs(names))
    if path == Path("-"):
        print(header, end="")
    else:
        write_output(path, header.encode())


def _write_register_map(names: list[str], path: Path) -> None:
    from rackwright.unit.accelerators import unit_manifest
    from rackwright.unit.config import unit_configs
    from rackwright.verilog.register_maps import write_register_map

    if len(names) != 1:
        raise RackwrightError("--rdl is for one unit: ./rw units nic --rdl nic.rdl")
    (config,) = unit_configs(names)
    record = read_manifest(unit_manifest(config))
    width = next((register_bytes(port) for port in record["ports"] if port.get("registers")), 8)
    text = write_register_map(record["unit"], registers_of(record["ports"]), width)
    write_output(path, text.encode())


def _print_index(rows: list[UnitInfo]) -> None:
    columns = [("unit", "left"), ("status", "left"), ("custom", "left"), ("GHz", "right"), ("mm²", "right")]
    columns += [("GB/s", "right"), ("faster from", "right"), ("summary", "left")]
    print_table(columns, [_cells(unit) for unit in rows])


def _cells(unit: UnitInfo) -> list[str]:
    physics = _physics(unit)
    keys = ("clock_hz", "area_mm2", "gigabytes_per_second", "break_even_bytes")
    clock, area, speed, size = (physics[key] for key in keys)
    return [
        unit.name,
        unit.status,
        ", ".join(map(str, unit.opcodes)),
        "" if clock is None else f"{clock / 1e9:.2f}",
        "" if area is None else f"{area:.3f}",
        "" if speed is None else f"{speed:.1f}",
        "" if size is None else f"{size:,.0f} B",
        unit.summary,
    ]


def _physics(unit: UnitInfo) -> dict[str, float | None]:
    """Clock, area and speed as built by default, by the committed tables; None for a unit without a row.

    The speed is that at the clock of synthesis, at most 2 GHz; `rw bench units` measures it. From the last
    number of bytes on, a call is faster by the unit than by the library on `boom` (`rw bench small`).
    """
    size = read_break_even().get(unit.name)
    row = next((row for row in read_table().values() if row.configuration == unit.name), None)
    if row is None:
        return {
            "clock_hz": None,
            "area_mm2": None,
            "gigabytes_per_second": None,
            "break_even_bytes": size,
        }
    speed = read_speeds().get(row.rtl_hash)
    return {
        "clock_hz": row.clock_hz,
        "area_mm2": row.area_mm2,
        "gigabytes_per_second": None if speed is None else speed.gigabytes_per_second,
        "break_even_bytes": size,
    }


def _print_unit(unit: UnitInfo) -> None:
    results.print(f"[bold]{unit.name}[/bold] ({unit.status}): {unit.summary}")
    results.print(f"{_places(asdict(unit))}\n")
    print_table(
        [("parameter", "left"), ("default", "right"), ("range", "left"), ("meaning", "left")],
        [
            (row["name"], str(row["default"]), str(row["range"]), row["description"])
            for row in unit.parameters
        ],
    )
    results.print()
    _print_ports(unit.ports)


def _print_ports(ports: Sequence[dict[str, Any]]) -> None:
    commands = [command for port in ports for command in port.get("commands", ())]
    if commands:
        columns = [("command", "left"), ("funct", "right"), ("rs1", "left"), ("rs2", "left")]
        rows = [
            [str(row.get(key, "")) for key in ("name", "funct", "rs1", "rs2", "answer")] for row in commands
        ]
        print_table([*columns, ("answer", "left")], rows)
        results.print()
    if registers := registers_of(ports):
        columns = [("offset", "left"), ("register", "left"), ("access", "left"), ("meaning", "left")]
        print_table(columns, register_rows(registers))
        results.print()
    print_table(
        [("port", "left"), ("contract", "left")],
        [(port["name"], port["contract"]) for port in ports],
    )
    results.print()
