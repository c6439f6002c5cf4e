"""`rw bench ratios`: whether the simulation, relative to references, is as fast as before."""

from __future__ import annotations

from typing import Annotated

import typer

from rackwright.cli.output import EXIT_FAILED, JsonOption, print_json, print_table, working
from rackwright.errors import RackwrightError

_FIGURES = "threads, qemu, verilator, guests"


def ratios(
    figures: Annotated[list[str] | None, typer.Argument(help=f"Of {_FIGURES}; all by default.")] = None,
    json: JsonOption = False,
) -> None:
    """Speed-up by threads, cores over QEMU, RTL over bare Verilator, guests over user mode; and their bounds.

    The bounds are in validation/ratios/table.csv. The exit status is 1 when one does not hold. Takes some
    minutes, and a machine that does little else.

    Examples:
        ./rw bench ratios

        ./rw bench ratios threads --json

    """
    from rackwright.benchmarks import ratios as benchmark

    chosen = figures or list(benchmark.FIGURES)
    unknown = [figure for figure in chosen if figure not in benchmark.FIGURES]
    if unknown:
        raise RackwrightError(f"no figure {unknown[0]}; there are {', '.join(benchmark.FIGURES)}")
    held = []
    with working("ratios of speeds") as activity:
        for figure in chosen:
            activity.detail(figure)
            held += benchmark.measure(figure)
    if json:
        print_json({"rows": [row.record() for row in held]})
    else:
        columns = [("figure", "left"), ("case", "left"), ("ratio", "right"), ("at least", "right")]
        columns.append(("within", "left"))
        cells = [
            [row.figure, row.case, f"{row.ratio:.3f}", f"{row.least:.3f}", "yes" if row.within else "NO"]
            for row in held
        ]
        print_table(columns, cells)
    if not all(row.within for row in held):
        raise typer.Exit(EXIT_FAILED)
