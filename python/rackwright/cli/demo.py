"""`rw demo`: the main comparison, from an empty machine to a report."""

from __future__ import annotations

import json as json_module
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bootstrap.paths import REPOSITORY
from rackwright.cli.accelerate import make_folder, write_output
from rackwright.cli.output import EXIT_FAILED, JsonOption, messages, print_json, print_table, working

if TYPE_CHECKING:
    from rackwright.demo.rows import Comparison


def demo(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FILE]...", help="Your files; a synthetic corpus by default."),
    ] = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for report.html and demo.json.")
    ] = REPOSITORY / "out" / "demo",
    json: JsonOption = False,
) -> None:
    """Compare Snappy on this processor, on simulated cores, and on the same cores with the unit.

    Missing requirements are installed and built first. Writes a report with table and plots.

    Examples:
        ./rw demo

        ./rw demo access.log --json

    """
    from rackwright.demo.archive import archive_of
    from rackwright.demo.measure import compare
    from rackwright.demo.report import render

    start = time.monotonic()
    plain = archive_of(files or [])
    make_folder(output)
    working_on = working("elaborating and compiling the units; the first time takes a minute")
    with working_on as activity, tempfile.TemporaryDirectory() as scratch:
        comparison = compare(plain, Path(scratch), activity.begin, activity.detail)
    seconds = time.monotonic() - start
    source = ", ".join(path.name for path in files or []) or "the corpus that comes with Rackwright"
    report = output / "report.html"
    write_output(report, render(comparison, source, seconds).encode())
    write_output(output / "demo.json", (json_module.dumps(comparison.record(), indent=2) + "\n").encode())
    if json:
        print_json(comparison.record())
    else:
        _print(comparison)
    messages.print(f"measured in {seconds:.1f} s; report: {report}", highlight=False, soft_wrap=True)
    if not comparison.verified:
        raise typer.Exit(EXIT_FAILED)


def _print(comparison: Comparison) -> None:
    from rackwright.demo.table import COLUMNS, cells

    print_table(COLUMNS, [cells(comparison, row) for row in comparison.rows])
