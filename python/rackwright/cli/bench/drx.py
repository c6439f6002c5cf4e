"""`rw bench drx`: kernels of the unit that restructures data, over their rooflines and over harts."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rackwright.cli.output import EXIT_FAILED, Activity, JsonOption, print_json, print_table, working
from rackwright.errors import RackwrightError

if TYPE_CHECKING:
    from rackwright.benchmarks.drx import Row
    from rackwright.benchmarks.drx_harts import HartRow


class Place(StrEnum):
    """The target of kernels."""

    model = "model"
    rtl = "rtl"
    boom = "boom"


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
    on: Annotated[
        Place,
        typer.Option(
            "--on",
            help="The exact model, or the unit in RTL; or the model beside simulated harts (boom).",
        ),
    ] = Place.model,
    harts: Annotated[
        int | None,
        typer.Option(min=1, max=64, help="For boom: harts that run an operation at a time; 16 by default."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Cycles of kernels, and the lower bound by memory or lanes as a fraction of them.

    Where a program in assembly has the kernel's name, cycles are also shown over those of that program.
    Seconds of compiling and simulated cycles per second are those of a processor of this machine. On boom,
    each kernel also runs as a program in C: an operation at a time on many harts, and fused on one. The exit
    status is 1 when a result is not NumPy's.

    Examples:
        ./rw bench drx

        ./rw bench drx examples/drx/scale.py --lanes 32 --lanes 64 --json

        ./rw bench drx examples/drx/scale.py --on boom --harts 4

    """
    from rackwright.benchmarks import drx as benchmark

    if harts is not None and on is not Place.boom:
        raise RackwrightError("--harts: is for --on boom")
    paths, counts = kernels or benchmark.examples(), lanes or benchmark.LANES
    with working("kernels") as activity:
        if on is Place.boom:
            verified = _beside_harts(paths, counts, harts, activity, json=json)
        else:
            verified = _over_rooflines(paths, counts, on, activity, json=json)
    if not verified:
        raise typer.Exit(EXIT_FAILED)


def _over_rooflines(
    paths: list[Path], lanes: list[int] | tuple[int, ...], on: Place, activity: Activity, *, json: bool
) -> bool:
    """Shows the rows of the unit; false if a result is not NumPy's."""
    from rackwright.benchmarks import drx as benchmark

    rows = []
    for row in benchmark.measure(paths, lanes, on.value):
        activity.detail(f"{row.kernel} on {row.lanes} lanes: {row.cycles:,} cycles")
        rows.append(row)
    if json:
        print_json({"rows": [row.record() for row in rows]})
    else:
        columns = [("kernel", "left"), ("lanes", "right"), ("cycles", "right"), ("roofline", "right")]
        columns += [("of", "left"), ("reached", "right"), ("GB/s", "right")]
        columns += [("over by hand", "right"), ("compiled in s", "right"), ("cycles/s", "right")]
        columns += [("verified", "left")]
        print_table(columns, [_cells(row) for row in rows])
    return all(row.verified for row in rows)


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
        f"{row.cycles_per_second:,.0f}",
        "yes" if row.verified else "NO",
    ]


def _beside_harts(
    paths: list[Path],
    lanes: list[int] | tuple[int, ...],
    harts: int | None,
    activity: Activity,
    *,
    json: bool,
) -> bool:
    """Shows the rows of the unit and of harts; false if a result is not NumPy's."""
    from rackwright.benchmarks import drx_harts as benchmark

    rows = []
    for row in benchmark.measure(paths, lanes, harts or benchmark.HARTS):
        activity.detail(f"{row.kernel}: {row.over_by_operation:.2f} times as fast as {row.harts} harts")
        rows.append(row)
    means = benchmark.means(rows)
    if json:
        print_json({"rows": [row.record() for row in rows], "means": means})
    else:
        columns = [("kernel", "left"), ("lanes", "right"), ("unit, ms", "right")]
        columns += [(f"{rows[0].harts} harts by operation, ms", "right"), ("over the unit", "right")]
        columns += [("one hart fused, ms", "right"), ("over the unit", "right"), ("verified", "left")]
        shown = [_hart_cells(row) for row in rows]
        gains = (f"{means['over_by_operation']:.2f}", f"{means['over_fused']:.2f}")
        print_table(columns, [*shown, ["geometric mean", "", "", "", gains[0], "", gains[1], ""]])
    return all(row.verified for row in rows)


def _hart_cells(row: HartRow) -> list[str]:
    return [
        row.kernel,
        str(row.lanes),
        f"{row.unit_nanoseconds / 1e6:.3f}",
        f"{row.by_operation_nanoseconds / 1e6:.3f}",
        f"{row.over_by_operation:.2f}",
        f"{row.fused_nanoseconds / 1e6:.3f}",
        f"{row.over_fused:.2f}",
        "yes" if row.verified else "NO",
    ]
