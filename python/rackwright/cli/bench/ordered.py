"""`rw bench ordered`: queries of an ordered index, by the unit and by a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rackwright.cli.bench.verified import report
from rackwright.cli.output import JsonOption, working

if TYPE_CHECKING:
    from rackwright.benchmarks.ordered import OrderedRow


def ordered(
    by: Annotated[
        Literal["range", "address", "program"] | None,
        typer.Option(
            "--by", help="The unit with a cache by key range or by address, or a program; all by default."
        ),
    ] = None,
    draw: Annotated[
        Literal["zipf", "neighbours", "join", "scan"] | None,
        typer.Option(help="What is asked for: see docs/ordered.md; everything by default."),
    ] = None,
    keys: Annotated[
        int | None, typer.Option(min=1, max=1 << 18, help="Keys of the tree; 100,000 by default.")
    ] = None,
    queries: Annotated[
        int | None,
        typer.Option(min=8, help="Queries, a power of two, half of which are measured; 16,384 by default."),
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Put what was measured into the table of validation/ordered.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Queries a second of a B+ tree in memory, asked for by a rocket hart.

    The unit `ordered-index` has a cache of nodes by key range, or one by address of as many bits. The
    exit status is 1 when an answer is another than that of the keys in order.

    Examples:
        ./rw bench ordered

        ./rw bench ordered --by range --draw join --json

    """
    from rackwright.benchmarks import ordered as benchmark

    rows = []
    with working("queries") as activity:
        for row in benchmark.measure(
            (by,) if by else benchmark.WAYS,
            (draw,) if draw else benchmark.DRAWS,
            keys=keys or benchmark.KEYS,
            queries=queries or benchmark.QUERIES,
        ):
            activity.detail(f"{row.draw} by {row.by}: {row.cycles:.1f} cycles")
            rows.append(row)
    if update:
        benchmark.write_table(rows)
    columns = [("queries", "left"), ("by", "left"), ("M/s", "right"), ("cycles a query", "right")]
    columns += [("instructions a query", "right"), ("levels", "right")]
    report(rows, columns, _cells, json=json)


def _cells(row: OrderedRow) -> list[str]:
    return [
        row.draw,
        row.by,
        f"{row.per_second / 1e6:.2f}",
        f"{row.cycles:.1f}",
        f"{row.instructions:.1f}",
        str(row.levels),
    ]
