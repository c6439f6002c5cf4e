"""`rw bench mesh`: the mesh between tiles under random traffic, and under the messages of runs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bootstrap.paths import REPOSITORY
from rackwright.cli.output import EXIT_FAILED, JsonOption, print_json, print_record, print_table, working
from rackwright.errors import RackwrightError

if TYPE_CHECKING:
    from rackwright.benchmarks.mesh import MeshRow
    from rackwright.benchmarks.mesh_replay import ReplayRow

_THREE_BY_THREE = REPOSITORY / "examples" / "tiles" / "three-by-three.yaml"

_AGREES = {None: "", True: "yes", False: "NO"}


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
    replay: Annotated[
        bool, typer.Option("--replay", help="Send the messages of runs on the tiles, at their cycles.")
    ] = False,
    runs: Annotated[
        list[str] | None,
        typer.Option(
            "--run",
            metavar="NAME",
            help="With --replay: queue, batches, callers, packets, spmv or bfs; repeatable.",
        ),
    ] = None,
    model: Annotated[
        bool, typer.Option("--model", help="Run only the model, without compiling RTL.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Latency and throughput of the mesh under uniform traffic, in RTL, beside the model and BookSim.

    Without --tiles, the mesh has 8 x 8 tiles with the default buffers and cycles per hop of BookSim's mesh.
    The exit status is 1 when RTL and model differ.

    With --replay, programs run on the tiles with their memory behind the mesh (docs/tiles.md), and their
    messages go through the mesh in RTL at the cycles of the run. The exit status is 1 when the mean latency
    of a run differs by more than 5 %, or that of a message that met no other at all. Without --tiles, the
    tiles are those of examples/tiles/three-by-three.yaml.

    Examples:
        ./rw bench mesh --model

        ./rw bench mesh --rate 0.05 --rate 0.42 --json

        ./rw bench mesh --tiles examples/tiles/three-by-three.yaml --flits 5

        ./rw bench mesh --replay --run callers --run spmv

    """
    if replay and (rates or flits != 1):
        raise RackwrightError(
            "--rate and --flits are of random traffic, and --replay has the messages of runs"
        )
    if runs and not replay:
        raise RackwrightError("--run goes with --replay")
    if replay:
        agree = _replay(tiles or _THREE_BY_THREE, runs, rtl=not model, json=json)
    else:
        agree = _random(tiles, rates, flits, rtl=not model, json=json)
    if not agree:
        raise typer.Exit(EXIT_FAILED)


def _random(tiles: Path | None, rates: list[float] | None, flits: int, *, rtl: bool, json: bool) -> bool:
    """Measures random traffic and prints it; returns whether RTL and model agree."""
    from rackwright.benchmarks import mesh as benchmark
    from rackwright.tiles import read_layout

    shape = benchmark.COMPARED if tiles is None else benchmark.traffic_only(read_layout(tiles).mesh)
    rows = []
    with working("the mesh") as activity:
        for row in benchmark.measure(shape, rates or benchmark.RATES, rtl=rtl, flits=flits):
            activity.detail(f"{row.rate} packets a tile and cycle: {row.mean_latency:.1f} cycles")
            rows.append(row)
    if json:
        print_json({"rows": [asdict(row) for row in rows], "hop_cycles": shape.hop_cycles})
    else:
        _show_random(rows, shape.hop_cycles)
    return all(row.verified is not False for row in rows)


def _show_random(rows: list[MeshRow], hop_cycles: int) -> None:
    columns = [("packets a tile and cycle", "right"), ("mean latency", "right"), ("BookSim's", "right")]
    columns += [("flits accepted", "right"), ("by", "left"), ("as the model", "left")]
    cells = [
        [
            f"{row.rate:g}",
            f"{row.mean_latency:.2f}",
            "" if row.peer_latency is None else f"{row.peer_latency:.2f}",
            f"{row.accepted:.4f}",
            row.by,
            _AGREES[row.verified],
        ]
        for row in rows
    ]
    print_table(columns, cells)
    print_record([("cycles a hop", str(hop_cycles))])


def _replay(tiles: Path, runs: list[str] | None, *, rtl: bool, json: bool) -> bool:
    """Sends the messages of runs and prints how they fare; returns whether the runs had their times."""
    from rackwright.benchmarks import mesh_replay as benchmark
    from rackwright.tiles import read_layout

    layout = read_layout(tiles)
    rows = []
    with working("the mesh") as activity:
        for row in benchmark.measure(layout, runs or tuple(benchmark.RUNS), rtl=rtl):
            activity.detail(f"{row.run}: {row.messages} messages, {row.mean_latency:.1f} cycles")
            rows.append(row)
    if json:
        print_json({"rows": [asdict(row) for row in rows], "hop_cycles": layout.mesh.hop_cycles})
    else:
        _show_replay(rows, layout.mesh.hop_cycles)
    return all(row.verified for row in rows)


def _show_replay(rows: list[ReplayRow], hop_cycles: int) -> None:
    columns = [("run", "left"), ("cycles", "right"), ("messages", "right"), ("latency in the run", "right")]
    columns += [("on the mesh", "right"), ("difference", "right"), ("met no other", "right")]
    columns += [("of these equal", "right"), ("by", "left"), ("agree", "left")]
    cells = [
        [
            row.run,
            str(row.cycles),
            str(row.messages),
            f"{row.run_latency:.2f}",
            f"{row.mean_latency:.2f}",
            f"{row.run_latency / row.mean_latency - 1:+.2%}",
            str(row.alone),
            str(row.alone_equal),
            row.by,
            _AGREES[row.verified],
        ]
        for row in rows
    ]
    print_table(columns, cells)
    print_record([("cycles a hop", str(hop_cycles))])
