"""`rw bench queues`: elements and payloads through queues in memory."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rackwright.cli.accelerate import write_output
from rackwright.cli.output import JsonOption, print_json, print_record, print_table, working
from rackwright.errors import RackwrightError

if TYPE_CHECKING:
    from rackwright.benchmarks.peers import PeerRow
    from rackwright.benchmarks.queues import QueueRow


def queues(
    tiles: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.yaml", help="File of tiles whose first unit is stream-copy; two-by-two by default."
        ),
    ] = None,
    chart: Annotated[
        Path | None, typer.Option(help="SVG file for a plot of bytes per cycle over size.")
    ] = None,
    peers: Annotated[
        bool,
        typer.Option(
            "--peers",
            help="Three producers and three consumers: our queue and those of libraries.",
        ),
    ] = False,
    rates: Annotated[
        bool,
        typer.Option(
            "--rates", help="Simulated cycles per second, with six busy tiles of nine, one, and none."
        ),
    ] = False,
    update: Annotated[
        bool, typer.Option("--update", help="Write the results into the table of validation/queues.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Cycles of elements there and back, of payloads by queue, registers and commands, and from unit to unit.

    Examples:
        ./rw bench queues

        ./rw bench queues --tiles examples/tiles/two-by-two.yaml --json

        ./rw bench queues --peers

        ./rw bench queues --rates

    """
    if rates:
        if tiles is not None or chart is not None or peers or update:
            raise RackwrightError("--rates goes with --json alone")
        _measure_rates(json=json)
        return
    if peers:
        if tiles is not None or chart is not None:
            raise RackwrightError("--peers needs no tiles, and has no chart")
        _measure_peers(update=update, json=json)
        return
    from rackwright.benchmarks import queues as benchmark
    from rackwright.tiles import read_layout

    layout = benchmark.default_layout() if tiles is None else read_layout(tiles)
    rows = []
    with working("queues: compiling the units") as activity:
        for row in benchmark.measure(layout):
            activity.detail(f"{row.test}: {row.payload_bytes:,} B by {row.by}, {row.batch} at once")
            rows.append(row)
    gains = benchmark.gains(rows)
    if chart is not None:
        write_output(chart, _drawn(rows).encode())
    if update:
        benchmark.write_table(rows)
    if json:
        print_json({"rows": [asdict(row) for row in rows], "gains": asdict(gains)})
        return
    columns = [("test", "left"), ("payload", "right"), ("by", "left"), ("at once", "right")]
    columns += [("cycles each", "right"), ("there and back", "right"), ("p99", "right")]
    columns.append(("bytes a cycle", "right"))
    print_table(columns, [_cells(row) for row in rows])
    print_record(
        [
            ("batches over single elements", f"{gains.batches:.2f}x"),
            ("queue over words through registers, mean", f"{gains.registers:.2f}x"),
            ("queue over a command per buffer, mean", f"{gains.command:.2f}x"),
            ("... with 8 callers", f"{gains.callers:.2f}x"),
            ("... over a hart with commands for 8 callers", f"{gains.callers_by_hart:.2f}x"),
            ("elements from unit to unit", f"{gains.unit_to_unit:.2f} bytes a cycle"),
        ]
    )


def _measure_peers(*, update: bool, json: bool) -> None:
    from rackwright.benchmarks import peers as benchmark

    with working("queues: several producers and consumers") as activity:
        rows = list(benchmark.measure(activity.detail))
    gains = benchmark.gains(rows)
    if update:
        benchmark.write_table(rows)
    if json:
        print_json({"rows": [asdict(row) for row in rows], "gains": gains})
        return
    columns = [("queue", "left"), ("package", "left"), ("at once", "right"), ("cycles each", "right")]
    print_table([*columns, ("elements/s", "right")], [_peer_cells(row) for row in rows])
    over = "over the fastest library"
    print_record([(f"{over}, {batch} at once", f"{gain:.2f}x") for batch, gain in gains.items()])


def _measure_rates(*, json: bool) -> None:
    from rackwright.benchmarks import tile_rates as benchmark

    rows = []
    with working("queues: compiling the units") as activity:
        for row in benchmark.measure():
            activity.detail(f"{row.busy} busy tiles: {row.cycles_per_second:,.0f} cycles/s")
            rows.append(row)
    if json:
        print_json({"rows": [asdict(row) for row in rows]})
        return
    columns = [
        ("tiles", "right"),
        ("busy", "right"),
        ("hart", "left"),
        ("requests", "right"),
        ("cycles", "right"),
    ]
    cells = [
        [
            str(row.tiles),
            str(row.busy),
            row.hart,
            f"{row.requests:,}",
            f"{row.cycles:,}",
            f"{row.cycles_per_second:,.0f}",
            f"{row.bar:,}",
        ]
        for row in rows
    ]
    print_table([*columns, ("cycles/s", "right"), ("bar", "right")], cells)


def _peer_cells(row: PeerRow) -> list[str]:
    speed = f"{row.elements_per_second / 1e6:.1f} M"
    return [row.peer, row.package, str(row.batch), f"{row.cycles_per_element:,.0f}", speed]


def _cells(row: QueueRow) -> list[str]:
    moved = row.element_bytes if row.test == "packets" else row.payload_bytes
    return [
        row.test,
        f"{row.payload_bytes:,} B",
        row.by,
        str(row.batch),
        f"{row.cycles_per_element:,.1f}",
        f"{row.round_trip_cycles:,}",
        f"{row.p99_cycles:,}",
        f"{moved / row.cycles_per_element:.2f}",
    ]


def _drawn(rows: list[QueueRow]) -> str:
    from rackwright.reports.plots import line_chart

    ways = dict.fromkeys(row.by for row in rows)
    return line_chart(
        "A payload to a unit and back",
        "bytes of the payload",
        "bytes a cycle",
        {
            way: [
                (row.payload_bytes, row.payload_bytes / row.cycles_per_element)
                for row in rows
                if row.test == "size" and row.by == way
            ]
            for way in ways
        },
    )
