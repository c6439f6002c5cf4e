"""`rw bench store`: gets of keys, by the unit and by a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rackwright.cli.bench.verified import report
from rackwright.cli.output import JsonOption, working

if TYPE_CHECKING:
    from rackwright.benchmarks.store import StoreRow


def store(
    by: Annotated[
        Literal["unit", "program"] | None, typer.Option("--by", help="Who answers; both by default.")
    ] = None,
    gets: Annotated[
        list[int] | None, typer.Option(min=1, max=1024, help="Gets of a batch; 1 to 128 by default.")
    ] = None,
    draw: Annotated[
        Literal["zipf", "even"], typer.Option(help="How keys are drawn: by Zipf's law (0.99), or all alike.")
    ] = "zipf",
    update: Annotated[
        bool, typer.Option("--update", help="Put what was measured into the table of validation/store.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Gets a second of 16-byte keys and 64-byte values out of 10,000 items, asked for by a rocket hart.

    A batch is one operation of the unit `store`, or one call of the program; the next one begins when its
    responses are there. The exit status is 1 when a value comes back as another.

    Examples:
        ./rw bench store

        ./rw bench store --by unit --gets 128 --json

    """
    from rackwright.benchmarks import store as benchmark

    rows = []
    with working("gets") as activity:
        for row in benchmark.measure(
            (by,) if by else benchmark.WAYS, tuple(gets or benchmark.GETS), draw=draw
        ):
            activity.detail(f"{row.gets} gets by {row.by}: {row.cycles:.1f} cycles")
            rows.append(row)
    if update:
        benchmark.write_table(rows)
    columns = [("by", "left"), ("gets", "right"), ("M gets/s", "right"), ("cycles a get", "right")]
    columns += [("the first batch", "right"), ("instructions a get", "right")]
    report(rows, columns, _cells, json=json)


def _cells(row: StoreRow) -> list[str]:
    return [
        row.by,
        str(row.gets),
        f"{row.per_second / 1e6:.2f}",
        f"{row.cycles:.1f}",
        str(row.first_cycles),
        f"{row.instructions:.1f}",
    ]
