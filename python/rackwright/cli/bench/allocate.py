"""`rw bench allocate`: memory by the allocator in RTL and by glibc's."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rackwright.cli.bench.inputs import Cores
from rackwright.cli.output import JsonOption, print_json, print_table, working

if TYPE_CHECKING:
    from rackwright.benchmarks.allocate import AllocateRow


def allocate(
    trace: Annotated[
        list[Path] | None,
        typer.Option(
            help="Calls of a program recorded by software/allocate/record.c; by default our traces."
        ),
    ] = None,
    over: Cores = None,
    live: Annotated[
        list[int] | None,
        typer.Option(
            metavar="BLOCKS",
            help="Live blocks during other allocations and frees; 100 to 100,000 by default.",
        ),
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Write the results into the table of validation/allocate.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Cycles of malloc and free for calls of recorded programs, with glibc and with the unit `allocate`.

    The unit is measured by its commands (`unit`), and behind the names of glibc's functions (`malloc`).

    Examples:
        ./rw bench allocate

        ./rw bench allocate --over rocket --live 100 --live 1000 --json

    """
    from rackwright.benchmarks import allocate as benchmark

    calls = benchmark.traces(trace or [])
    rows = []
    with working("allocate: compiling the unit") as activity:
        for row in benchmark.measure(calls, tuple(over or benchmark.CPUS), tuple(live or benchmark.LIVE)):
            activity.detail(f"{row.test} {row.name} by {row.by} on {row.cpu}")
            rows.append(row)
    gains = benchmark.gains(rows)
    if update:
        benchmark.write_table(rows)
    if json:
        print_json({"rows": [asdict(row) for row in rows], "gains": gains})
        return
    columns = [("core", "left"), ("work", "left"), ("by", "left"), ("calls", "right")]
    columns += [("cycles each", "right"), ("median", "right"), ("p99", "right"), ("gain", "right")]
    print_table(columns, [_cells(row, gains) for row in rows])


def _cells(row: AllocateRow, gains: dict[str, dict[str, dict[str, float]]]) -> list[str]:
    work = row.name if row.test == "trace" else f"beside {int(row.name):,}"
    gain = f"{gains[row.by][row.cpu][f'{row.test} {row.name}']:.2f}x" if row.by in gains else ""
    cycles = f"{row.cycles_per_call:.1f}"
    return [
        row.cpu,
        work,
        row.by,
        f"{row.calls:,}",
        cycles,
        f"{row.median_cycles:,}",
        f"{row.p99_cycles:,}",
        gain,
    ]
