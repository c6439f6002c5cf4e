"""`rw bench small`: the cost of small calls, and the size from which a unit is faster than the library."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rackwright.cli.accelerate import write_output
from rackwright.cli.output import EXIT_FAILED, JsonOption, messages, print_json, print_table, results, working
from rackwright.errors import RackwrightError

if TYPE_CHECKING:
    from rackwright.benchmarks.break_even import BreakEven
    from rackwright.benchmarks.small import Call


class Over(StrEnum):
    """The machine whose library is compared with a unit."""

    host = "host"
    rocket = "rocket"
    boom = "boom"
    none = "none"


def small(
    units: Annotated[
        list[str] | None, typer.Option("--unit", metavar="NAME", help="Units; repeatable; all by default.")
    ] = None,
    sizes: Annotated[
        list[int] | None,
        typer.Option(
            "--size",
            metavar="BYTES",
            help="Sizes in bytes; repeatable; 64 to 65,536 in six steps by default.",
        ),
    ] = None,
    over: Annotated[
        list[Over] | None,
        typer.Option(
            "--over",
            help="Machine whose library the unit is compared with; repeatable; all three by default.",
        ),
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Write the results into the tables of validation/small.")
    ] = False,
    chart: Annotated[
        Path | None, typer.Option(help="SVG file for a chart of the parts of later calls of codecs.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Cycles and nanoseconds of small calls, by size: the first, a later one, and calls back to back.

    Then the size from which on a call by the unit is faster than by the official library on this host and on
    each core. Ends with status 1 when a call takes longer than its bound in validation/small.

    Examples:
        ./rw bench small

        ./rw bench small --unit snappy-compress --size 64 --size 1024 --over boom --json

        ./rw bench small --unit protobuf-serialize --over none

        ./rw bench small --over none --size 64 --size 1024 --chart small.svg

    """
    from rackwright.benchmarks import beside_library, break_even
    from rackwright.benchmarks import small as benchmark
    from rackwright.reports.host import describe_host

    chosen = units or list(benchmark.UNITS)
    benchmark.check(chosen, sizes or ())
    others = [each.value for each in over or Over if each is not Over.none]
    calls: list[Call] = []
    found: list[BreakEven] = []
    with working("small calls: elaborating and compiling") as activity:
        for name in chosen:
            activity.detail(name)
            calls += benchmark.measure(name, sizes or benchmark.SIZES)
            activity.detail(f"{name} beside the official library")
            found += beside_library.measure(name, others) if others else []
    if chart is not None:
        write_output(chart, _drawn(calls).encode())
    if update:
        benchmark.write_table(calls)
        break_even.write_table(found)
    if json:
        print_json(
            {
                "rows": [call.record() for call in calls],
                "break_even": [asdict(each) for each in found],
                "host": describe_host(),
            }
        )
    else:
        _print(calls, found)
    complaints = benchmark.exceeded(calls)
    for line in complaints:
        messages.print(line, highlight=False)
    if complaints:
        raise typer.Exit(EXIT_FAILED)


def _drawn(calls: list[Call]) -> str:
    from rackwright.benchmarks.small import PARTS
    from rackwright.reports.plots import stacked_chart

    cut = [(call, asdict(call.parts)) for call in calls if call.parts is not None]
    if not cut:
        raise RackwrightError("--chart draws calls of codecs, and none was measured")
    return stacked_chart(
        "A small call in parts",
        "cycles of the unit",
        [f"{call.unit}, {call.bytes:,} B" for call, _ in cut],
        {name.replace("_", " "): [parts[name] for _, parts in cut] for name in PARTS},
    )


def _print(calls: list[Call], found: list[BreakEven]) -> None:
    columns = [("unit", "left"), ("bytes", "right"), ("first call", "right"), ("later", "right")]
    columns += [("back to back, each", "right"), ("ns", "right"), ("later call in parts", "left")]
    print_table(columns, [_cells(call) for call in calls])
    if not found:
        return
    results.print()
    print_table(
        [("unit", "left"), ("faster than the library on", "left"), ("from bytes on", "right")],
        [[each.unit, each.over, "never" if each.bytes is None else f"{each.bytes:,}"] for each in found],
    )


def _cells(call: Call) -> list[str]:
    parts = asdict(call.parts) if call.parts else {}
    return [
        call.unit,
        f"{call.bytes:,}",
        f"{call.first:,}",
        f"{call.later:,}",
        f"{call.back_to_back:,.1f}",
        f"{call.later / call.clock_hz * 1e9:,.0f}",
        ", ".join(f"{name.replace('_', ' ')} {cycles}" for name, cycles in parts.items()),
    ]
