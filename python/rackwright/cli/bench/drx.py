"""`rw bench drx`: kernels of the unit that restructures data, over their rooflines."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rackwright.cli.output import EXIT_FAILED, JsonOption, print_json, print_table, working

if TYPE_CHECKING:
    from rackwright.benchmarks.drx import Row


class Place(StrEnum):
    """The target of kernels."""

    model = "model"
    rtl = "rtl"


def drx(
    kernels: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Python files, each with a kernel; six examples by default.", metavar="KERNEL.py"
        ),
    ] = None,
    lanes: Annotated[
        list[int] | None, typer.Option("--lanes", help="Lanes of the unit; repeatable; 128 by default.")
    ] = None,
    on: Annotated[Place, typer.Option("--on", help="The exact model, or the unit in RTL.")] = Place.model,
    json: JsonOption = False,
) -> None:
    """Cycles of kernels, and the lower bound by memory or lanes as a fraction of them.

    Where a program in assembly has the kernel's name, cycles are also shown over those of that program.
    Seconds of compiling and simulated cycles per second are those of a processor of this machine. The exit
    status is 1 when a result is not NumPy's.

    Examples:
        ./rw bench drx

        ./rw bench drx examples/drx/scale.py --lanes 32 --lanes 64 --json

    """
    from rackwright.benchmarks import drx as benchmark

    rows = []
    with working("kernels") as activity:
        for row in benchmark.measure(kernels or benchmark.examples(), lanes or benchmark.LANES, on.value):
            activity.detail(f"{row.kernel} on {row.lanes} lanes: {row.cycles:,} cycles")
            rows.append(row)
    if json:
        print_json({"rows": [row.record() for row in rows]})
    else:
        columns = [("kernel", "left"), ("lanes", "right"), ("cycles", "right"), ("roofline", "right")]
        columns += [("of", "left"), ("reached", "right"), ("GB/s", "right")]
        columns += [("over by hand", "right"), ("compiled in s", "right"), ("M cycles/s", "right")]
        columns += [("verified", "left")]
        print_table(columns, [_cells(row) for row in rows])
    if not all(row.verified for row in rows):
        raise typer.Exit(EXIT_FAILED)


def _cells(row: Row) -> list[str]:
    return [
        row.kernel,
        str(row.lanes),
        f"{row.cycles:,}",
        f"{row.roofline:,}",
        row.bound,
        f"{row.of_roofline:.0%}",
        f"{row.bytes_per_second / 1e9:.2f}",
        f"{row.cycles / row.by_hand:.3f}" if row.by_hand else "",
        f"{row.compile_seconds:.2f}",
        f"{row.cycles_per_second / 1e6:.3g}",
        "yes" if row.verified else "NO",
    ]
