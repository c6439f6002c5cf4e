"""`rw bench gather`: accesses by index, with and without the unit."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from rackwright.cli.bench.inputs import Cores
from rackwright.cli.output import JsonOption, print_json, print_table, working

if TYPE_CHECKING:
    from rackwright.benchmarks.gather import GatherRow


def gather(
    kernel: Annotated[
        list[str] | None, typer.Option(metavar="LOOP", help="spmv, sdhp, spmm or bfs; all by default.")
    ] = None,
    over: Cores = None,
    update: Annotated[
        bool, typer.Option("--update", help="Write the results into the table of validation/gather.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Cycles of sparse loops whose tables are beyond caches: loads, prefetch, two threads, the unit `gather`.

    Examples:
        ./rw bench gather

        ./rw bench gather --kernel spmv --over rocket --json

    """
    from rackwright.benchmarks import gather as benchmark

    rows = []
    with working("gather: compiling the unit") as activity:
        for row in benchmark.measure(tuple(kernel or benchmark.KERNELS), tuple(over or benchmark.CPUS)):
            activity.detail(f"{row.kernel} by {row.by} on {row.cpu}")
            rows.append(row)
    gains = benchmark.gains(rows)
    if update:
        benchmark.write_table(rows)
    if json:
        print_json({"rows": [asdict(row) for row in rows], "gains": gains})
        return
    columns = [("core", "left"), ("loop", "left"), ("by", "left"), ("cycles an element", "right")]
    print_table([*columns, ("the unit gains", "right")], [_cells(row, gains) for row in rows])


def _cells(row: GatherRow, gains: dict[str, dict[str, dict[str, float]]]) -> list[str]:
    gain = "" if row.by == "unit" else f"{gains[row.cpu][row.kernel][row.by]:.2f}x"
    return [row.cpu, row.kernel, row.by, f"{row.cycles_per_element:.1f}", gain]
