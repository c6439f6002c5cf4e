"""`rw export`: units as the projects of others take them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rackwright.cli.output import JsonOption, print_json, print_record, working

export = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Write units as folders for third-party SoC generators.",
)


@export.callback()
def _about() -> None:
    """Write units as folders for third-party SoC generators."""


@export.command("chipyard")
def chipyard(
    units: Annotated[
        list[str],
        typer.Argument(metavar="UNIT…", help="Names, sets, or your own manifest or YAML file."),
    ],
    dialect: Annotated[
        str, typer.Option("--dialect", help="The version of Chipyard: `1.2`, or `current` (2026).")
    ] = "current",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Output folder; out/chipyard/NAME by default."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Write units as a generator of Chipyard, beside every hart by RoCC (docs/chipyard.md).

    The folder has the wrapper in Chisel, the Verilog as a black box, a configuration fragment, a list of
    memories, a C header and a program that reads the status of every unit.

    Examples:
        ./rw export chipyard snappy

        ./rw export chipyard examples/bring-your-own/systemverilog/manifest.json --dialect 1.2 -o out/count

    """
    from rackwright.export.chipyard import default_output, write_generator
    from rackwright.unit.config import unit_configs

    configs = unit_configs(units)
    folder = output or default_output(configs)
    with working("exporting"):
        description = write_generator(configs, dialect, folder)
    if json:
        print_json({**description, "folder": str(folder)})
        return
    print_record(
        [
            ("folder", str(folder)),
            ("configuration", description["configuration"]),
            ("Verilog", ", ".join(description["verilog"])),
            ("memories", str(len(description["memories"]))),
        ]
    )
