"""`rw bench mesh`: the mesh between tiles under random traffic."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from rackwright.cli.output import EXIT_FAILED, JsonOption, print_json, print_record, print_table, working


def mesh(
    rates: Annotated[
        list[float] | None,
        typer.Option("--rate", min=0, max=1, help="Packets that a tile injects per cycle; repeatable."),
    ] = None,
    tiles: Annotated[
        Path | None,
        typer.Option("--tiles", help="File of tiles whose mesh is measured.", metavar="FILE.yaml"),
    ] = None,
    flits: Annotated[int, typer.Option(min=1, max=64, help="Flits per packet.")] = 1,
    model: Annotated[
        bool, typer.Option("--model", help="Run only the model, without compiling RTL.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Latency and throughput of the mesh under uniform traffic, in RTL, beside the model and BookSim.

    Without --tiles, the mesh has 8 x 8 tiles with the default buffers and cycles per hop of BookSim's mesh.
    The exit status is 1 when RTL and model differ.

    Examples:
        ./rw bench mesh --model

        ./rw bench mesh --rate 0.05 --rate 0.42 --json

        ./rw bench mesh --tiles examples/tiles/three-by-three.yaml --flits 5

    """
    from rackwright.benchmarks import mesh as benchmark
    from rackwright.tiles import read_layout

    shape = benchmark.COMPARED if tiles is None else benchmark.traffic_only(read_layout(tiles).mesh)
    rows = []
    with working("the mesh") as activity:
        for row in benchmark.measure(shape, rates or benchmark.RATES, rtl=not model, flits=flits):
            activity.detail(f"{row.rate} packets a tile and cycle: {row.mean_latency:.1f} cycles")
            rows.append(row)
    if json:
        print_json({"rows": [asdict(row) for row in rows], "hop_cycles": shape.hop_cycles})
    else:
        columns = [("packets a tile and cycle", "right"), ("mean latency", "right"), ("BookSim's", "right")]
        columns += [("flits accepted", "right"), ("by", "left"), ("as the model", "left")]
        cells = [
            [
                f"{row.rate:g}",
                f"{row.mean_latency:.2f}",
                "" if row.peer_latency is None else f"{row.peer_latency:.2f}",
                f"{row.accepted:.4f}",
                row.by,
                {None: "", True: "yes", False: "NO"}[row.verified],
            ]
            for row in rows
        ]
        print_table(columns, cells)
        print_record([("cycles a hop", str(shape.hop_cycles))])
    if any(row.verified is False for row in rows):
        raise typer.Exit(EXIT_FAILED)
