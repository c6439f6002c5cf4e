"""`rw map`: the parts of servers."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rackwright.cli.output import JsonOption, messages, print_json, print_table, results, working
from rackwright.errors import RackwrightError

if TYPE_CHECKING:
    from rackwright.machine_map.parts import ServerMap


def map(
    file: Annotated[
        Path,
        typer.Argument(help="A server in YAML (the arguments of `Server`), or a script that runs a cluster."),
    ],
    node: Annotated[str | None, typer.Option("--node", help="Only the server of this name.")] = None,
    svg: Annotated[Path | None, typer.Option("--svg", help="Draw the server as SVG into this file.")] = None,
    json: JsonOption = False,
) -> None:
    """Show the parts of a server: harts, units, devices, their addresses, interrupts and clocks.

    A script runs up to the start of its first cluster; each server with harts in this cluster is shown.

    Examples:
        ./rw map examples/servers/program.yaml

        ./rw map examples/clusters/ping.py --node asks --svg out/asks.svg

    """
    servers = _chosen(file, node)
    if svg:
        _draw(servers, svg)
    if json:
        print_json({"servers": [server.record() for server in servers]})
        return
    for server in servers:
        _show(server)


def _chosen(file: Path, node: str | None) -> list[ServerMap]:
    from rackwright.cli.run_cluster import execute
    from rackwright.machine_map.load import load_servers

    with working(file.name), contextlib.redirect_stdout(sys.stderr):
        servers = load_servers(file, lambda path: execute(path, ()))
    if node is None:
        return servers
    chosen = [server for server in servers if server.name == node]
    if not chosen:
        known = ", ".join(server.name for server in servers) or "none"
        raise RackwrightError(f"{file}: no server is called {node}; there are {known}")
    return chosen


def _draw(servers: list[ServerMap], path: Path) -> None:
    from rackwright.machine_map.drawing import map_diagram

    if len(servers) != 1:
        raise RackwrightError(f"--svg draws one server, and there are {len(servers)}: choose one by --node")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(map_diagram(servers[0]).svg(), encoding="utf-8")
    messages.print(f"written to {path}", highlight=False, soft_wrap=True)


def _show(server: ServerMap) -> None:
    from rackwright.machine_map.drawing import place_lines

    results.print(
        f"[bold]{server.name}[/bold]: {server.harts} x {server.cpu}, {server.runs}", highlight=False
    )
    columns = [("part", "left"), ("kind", "left"), ("where", "left"), ("clock", "right"), ("", "left")]
    rows = [
        [part.name, part.kind, "; ".join(place_lines(part)), f"{part.clock_hz / 1e9:g} GHz", part.detail]
        for part in server.parts
    ]
    print_table(columns, rows)
