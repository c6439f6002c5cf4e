"""`rw synth`: depth, area and clock of a unit's logic."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bootstrap.paths import REPOSITORY
from rackwright.cli.output import Activity, JsonOption, messages, print_json, print_table, results, working
from rackwright.cli.settings import SetOption, parse_settings
from rackwright.errors import RackwrightError
from rackwright.hardware.manifests import read_manifest

if TYPE_CHECKING:
    from rackwright.synthesis.configurations import Configuration
    from rackwright.synthesis.figures import Figures
    from rackwright.synthesis.flow import Design


def synth(
    unit: Annotated[
        str | None, typer.Argument(help="A unit of `./rw units`, a manifest.json or a unit.yaml.")
    ] = None,
    settings: SetOption = None,
    every: Annotated[bool, typer.Option("--all", help="All units in their named configurations.")] = False,
    update: Annotated[bool, typer.Option("--update", help="Update validation/synthesis/table.csv.")] = False,
    liberty: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="Map to this library; repeatable.")
    ] = None,
    sram: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Rules and macros in the format of process.toml.")
    ] = None,
    paths: Annotated[int, typer.Option(min=1, max=1000, help="Number of longest paths to show.")] = 10,
    gates: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Write the netlist too, with a manifest that other verbs take in the unit's place.",
        ),
    ] = None,
    power: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN.json", help="Show the power in this run: `./rw run … --waves FILE.saif --json`."
        ),
    ] = None,
    operations: Annotated[
        int | None,
        typer.Option(
            min=1, help="With --power: how many operations that was; without it, answered commands."
        ),
    ] = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the report.")] = REPOSITORY
    / "out"
    / "synth",
    json: JsonOption = False,
) -> None:
    """Synthesise a unit to gates: logic depth in FO4, the resulting clock and area, and the longest paths.

    Clock and area are an estimate for a process of the 16/22 nm class by stated rules; depth, gates and paths
    are those of the library. Pieces that were mapped before are not mapped again.

    Examples:
        ./rw synth stream-copy

        ./rw synth snappy-decompress --set history-kib=2 --json

        ./rw synth stream-copy --gates out/stream-copy-gates

        ./rw synth stream-copy --power run.json --operations 4

        ./rw synth --all

    """
    from rackwright.synthesis.batch import synthesise_all
    from rackwright.synthesis.library import load_library
    from rackwright.synthesis.process import load_process
    from rackwright.synthesis.report import render
    from rackwright.synthesis.simulation import write_gates
    from rackwright.synthesis.upkeep import update_table

    wanted = wanted_configurations(unit, every, update, parse_settings(settings), bool(liberty or sram))
    if (gates or power) and (every or update):
        raise RackwrightError(f"{'--gates' if gates else '--power'} takes one unit, and no --update")
    if operations is not None and power is None:
        raise RackwrightError("--operations goes with --power")
    if power is not None:
        _show_power(wanted[0], power, operations, liberty or [], sram, json)
        return
    library, process = load_library(liberty or []), load_process(sram)
    with working("synthesis") as activity:
        if update:
            designs = _designs(wanted, activity)
            pairs = list(zip(wanted, designs, strict=True))
            update_table(pairs, library, process, detail=activity.detail, done=activity.begin)
            return
        rows = list(
            synthesise_all(_designs(wanted, activity), library, process, paths=paths, report=activity.detail)
        )
        if gates:
            activity.begin("writing the netlist")
            own = dict(wanted[0].parameters) if _is_own(wanted[0]) else None
            manifest = write_gates(_manifest(wanted[0]), library, process, gates, own)
    output.mkdir(parents=True, exist_ok=True)
    report = output / ("all.html" if every else f"{Path(wanted[0].unit).stem}.html")
    report.write_text(render(rows, library, process), encoding="utf-8")
    if json:
        record = {"library": library.name, "fo4_picoseconds": round(library.fo4 * 1000, 2)}
        print_json(record | {"rows": [row.record() for row in rows]})
    else:
        _print(wanted, rows)
    messages.print(f"report: {report}", highlight=False, soft_wrap=True)
    if gates:
        messages.print(f"in gates: {manifest}", highlight=False, soft_wrap=True)


def _show_power(
    wanted: Configuration,
    run: Path,
    operations: int | None,
    liberty: list[Path],
    rules: Path | None,
    json: bool,
) -> None:
    from rackwright.cli.power import show_power
    from rackwright.hardware.designs import elaborate_all

    manifest = _manifest(wanted)
    if not _is_own(wanted):
        elaborate_all([wanted.elaboration])
    show_power(
        read_manifest(manifest)["unit"],
        manifest,
        run,
        operations=operations,
        parameters=dict(wanted.parameters) if _is_own(wanted) else None,
        liberty=liberty,
        rules_file=rules,
        json=json,
    )


def _is_own(wanted: Configuration) -> bool:
    return wanted.unit.endswith(".json")


def _manifest(wanted: Configuration) -> Path:
    return Path(wanted.unit) if _is_own(wanted) else wanted.elaboration.manifest


def _designs(wanted: list[Configuration], activity: Activity) -> list[Design]:
    from rackwright.synthesis.flow import load_designs, read_design

    if len(wanted) == 1 and _is_own(wanted[0]):
        return [read_design(_manifest(wanted[0]), dict(wanted[0].parameters))]
    activity.begin("elaborating what is synthesised")
    designs = load_designs([each.elaboration for each in wanted])
    activity.begin(f"synthesising {wanted[0].name if len(wanted) == 1 else f'{len(wanted)} configurations'}")
    return designs


def wanted_configurations(
    unit: str | None, every: bool, update: bool, parameters: dict[str, str], own_rules: bool
) -> list[Configuration]:
    """The configurations selected by the command line; raises `RackwrightError` for invalid ones."""
    from rackwright.synthesis.configurations import Configuration, configurations
    from rackwright.unit.config import unit_configs

    if every == (unit is not None):
        raise RackwrightError("synth takes either a unit or --all")
    if update and (parameters or own_rules):
        raise RackwrightError(
            "--update takes the named configurations, the library and the rules of the product"
        )
    if every and parameters:
        raise RackwrightError("--all takes no --set: it synthesises the named configurations")
    if unit is None:
        return configurations()
    if update:
        named = [each for each in configurations() if each.unit == unit]
        if not named:
            raise RackwrightError(f"{unit} has no rows in the table: they are of units whose status is ready")
        return named
    config, *others = unit_configs([unit])
    if others:
        raise RackwrightError(f"{unit} is a set; synth takes one unit, such as {config.unit}")
    given = {**config.parameters, **parameters}
    return [Configuration(config.unit, tuple(sorted(given.items())), command=config.command)]


def _print(wanted: list[Configuration], rows: list[Figures]) -> None:
    columns = [("unit", "left"), ("FO4", "right"), ("GHz", "right"), ("gate equivalents", "right")]
    columns += [("flops", "right"), ("SRAM KiB", "right"), ("mm²", "right"), ("longest path", "left")]
    cells = [
        (
            each.name,
            f"{row.depth_fo4:.1f}",
            f"{row.clock_hz / 1e9:.2f}",
            f"{row.gate_equivalents:,}",
            f"{row.flops:,}",
            f"{row.sram_bits / 8192:.1f}",
            f"{row.area_mm2:.3f}",
            f"{row.paths[0].start} → {row.paths[0].end}",
        )
        for each, row in zip(wanted, rows, strict=True)
    ]
    print_table(columns, cells)
    if len(rows) == 1:
        _print_details(rows[0])


def _print_details(row: Figures) -> None:
    for note in row.notes:
        results.print(f"note: {note}", highlight=False)
    results.print()
    print_table(
        [("longest paths", "right"), ("from", "left"), ("to", "left")],
        [(f"{path.depth_fo4:.1f} FO4", path.start, path.end) for path in row.paths],
    )
    results.print()
    print_table(
        [("module", "left"), ("copies", "right"), ("gate equivalents", "right"), ("flops", "right")],
        [
            (part.module, str(part.copies), f"{part.gate_equivalents:,}", f"{part.flops:,}")
            for part in row.modules
        ],
    )
    for part in row.sram_macros:
        results.print(
            f"SRAM {part.memory}: {part.count} x {part.depth} x {part.width} {part.ports}, "
            f"{part.access_picoseconds:.0f} ps, {part.area_mm2:.4f} mm²",
            highlight=False,
        )
    for memory in row.memories_in_flops:
        results.print(
            f"flops {memory.memory}: {memory.copies} x {memory.depth} x {memory.width} {memory.ports}, "
            f"{'synchronous' if memory.synchronous else 'asynchronous'} reads",
            highlight=False,
        )
