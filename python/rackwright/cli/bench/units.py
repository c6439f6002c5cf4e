"""`rw bench units`: the speed of every unit."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from rackwright.cli.output import JsonOption, print_json, print_table, working

if TYPE_CHECKING:
    from rackwright.benchmarks.speeds import Speed


def units(
    names: Annotated[list[str] | None, typer.Argument(help="Units; all by default.")] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Write the results into the table that `rw units` shows.")
    ] = False,
    library: Annotated[
        bool,
        typer.Option(
            "--library", help="Measure the official libraries on the core boom, with the same workloads."
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Speed of every unit in its default configuration, with a workload of its kind.

    Examples:
        ./rw bench units

        ./rw bench units snappy-compress stream-copy --json

        ./rw bench units zstd-compress --library

    """
    if library:
        _measure_library(names, update, json)
        return
    from rackwright.benchmarks import units as benchmark
    from rackwright.benchmarks.speeds import write_speeds

    chosen = names or list(benchmark.MEASUREMENTS)
    rows: list[Speed] = []
    with working("units") as activity:
        for number, name in enumerate(chosen):
            activity.detail(f"{name}, {number + 1} of {len(chosen)}")
            rows += benchmark.measure([name])
    if update:
        write_speeds(rows)
    if json:
        print_json({"rows": [row.record() for row in rows]})
        return
    columns = [("unit", "left"), ("bytes", "right"), ("cycles", "right"), ("GHz", "right"), ("GB/s", "right")]
    cells = [
        [
            row.unit,
            f"{row.bytes:,}",
            f"{row.cycles:,}",
            f"{row.clock_hz / 1e9:.2f}",
            f"{row.gigabytes_per_second:.2f}",
            row.workload,
        ]
        for row in rows
    ]
    print_table([*columns, ("workload", "left")], cells)


def _measure_library(names: list[str] | None, update: bool, json: bool) -> None:
    from rackwright.benchmarks.library import measure_library, write_library
    from rackwright.benchmarks.units import MEASUREMENTS

    chosen = names or list(MEASUREMENTS)
    with working("the official libraries on boom") as activity:
        rows = []
        for number, name in enumerate(chosen):
            activity.detail(f"{name}, {number + 1} of {len(chosen)}")
            rows += [row for row in [measure_library(name)] if row]
    if update:
        write_library(rows)
    if json:
        print_json({"rows": [asdict(row) for row in rows]})
        return
    columns = [("workload of", "left"), ("bytes", "right"), ("cycles of boom", "right"), ("GHz", "right")]
    print_table(
        columns,
        [[row.unit, f"{row.bytes:,}", f"{row.cycles:,}", f"{row.clock_hz / 1e9:.2f}"] for row in rows],
    )
