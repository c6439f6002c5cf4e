"""`rw demo`: the main job, from nothing to a report."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bootstrap.paths import REPOSITORY
from rackwright.cli.output import EXIT_FAILED, JsonOption, messages, print_json, print_table, working

if TYPE_CHECKING:
    from rackwright.demo.rows import Comparison


def demo(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FILE]...", help="Your files; without any, Python's standard library."),
    ] = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for report.html and demo.json.")
    ] = REPOSITORY / "out" / "demo",
    json: JsonOption = False,
) -> None:
    """Compare Snappy on this processor, on simulated cores, and on the same cores with the unit.

    Installs and builds what is missing first. Writes a report with table and plots.

    Examples:
        ./rw demo

        ./rw demo access.log --json

    """
    from rackwright.demo.archive import archive_of
    from rackwright.demo.measure import compare
    from rackwright.demo.report import render

    start = time.monotonic()
    plain = archive_of(files or [])
    output.mkdir(parents=True, exist_ok=True)
    with working("elaborating and compiling the units; the first time takes a minute") as activity:
        comparison = compare(plain, output, activity.begin, activity.detail)
    seconds = time.monotonic() - start
    source = ", ".join(path.name for path in files or []) or "Python's standard library"
    report = output / "report.html"
    report.write_text(render(comparison, source, seconds), encoding="utf-8")
    _write_json(output / "demo.json", comparison)
    if json:
        print_json(comparison.record())
    else:
        _print(comparison)
    messages.print(f"measured in {seconds:.1f} s; report: {report}", highlight=False, soft_wrap=True)
    if not comparison.verified:
        raise typer.Exit(EXIT_FAILED)


def _write_json(path: Path, comparison: Comparison) -> None:
    import json

    path.write_text(json.dumps(comparison.record(), indent=2) + "\n", encoding="utf-8")


def _print(comparison: Comparison) -> None:
    from rackwright.demo.table import COLUMNS, cells

    print_table(COLUMNS, [cells(comparison, row) for row in comparison.rows])
