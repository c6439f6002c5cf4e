"""`rw tiles`: tiles on a mesh, and graphs of services on them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rackwright.cli.accelerate import write_output
from rackwright.cli.output import EXIT_FAILED, JsonOption, print_json, print_record, print_table

if TYPE_CHECKING:
    from rackwright.tiles import Graph, Layout, Verdict

tiles = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Check, draw and place tiles on a mesh, and graphs of services on them.",
)

LayoutArgument = Annotated[
    Path, typer.Argument(help="The tiles and their mesh, in YAML.", metavar="FILE.yaml")
]
GraphOption = Annotated[
    Path | None, typer.Option("--graph", help="Services and queues, in YAML.", metavar="GRAPH.yaml")
]


@tiles.command()
def check(file: LayoutArgument, graph: GraphOption = None, json: JsonOption = False) -> None:
    """Check whether the mesh can deadlock, and whether the graph on it can; if so, print the cycle.

    The exit status is 1 then.

    Examples:
        ./rw tiles check examples/tiles/two-by-two.yaml --graph examples/tiles/copy.graph.yaml

        ./rw tiles check examples/tiles/three-by-three.yaml --json

    """
    from rackwright.tiles import check as checked

    verdict = checked(*_read(file, graph))
    if json:
        print_json(verdict.record())
    else:
        _print(verdict)
    if not verdict.legal:
        raise typer.Exit(EXIT_FAILED)


@tiles.command()
def draw(
    file: LayoutArgument,
    graph: GraphOption = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="File for the drawing.")] = Path("tiles.svg"),
) -> None:
    """Draw the tiles as SVG: links that queues of the graph pass are the wider, the more queues pass.

    Examples:
        ./rw tiles draw examples/tiles/three-by-three.yaml --graph examples/tiles/chain.graph.yaml

    """
    from rackwright.tiles import check as checked
    from rackwright.tiles import draw as drawn

    layout, services = _read(file, graph)
    checked(layout, services)
    write_output(output, drawn(layout, services).encode())
    print_record([("drawing", str(output))])


@tiles.command()
def place(
    file: LayoutArgument,
    graph: Annotated[
        Path, typer.Option("--graph", help="Services and queues, in YAML.", metavar="GRAPH.yaml")
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File for the tiles with their new positions.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Move the tiles, except those with `fixed: true`, to minimise the graph's traffic on the links.

    Examples:
        ./rw tiles place examples/tiles/three-by-three.yaml --graph examples/tiles/chain.graph.yaml

    """
    from rackwright.tiles import place as placed

    layout, services = _read(file, graph)
    found = placed(layout, services)
    if output is not None:
        write_output(output, found.layout.text().encode())
    if json:
        print_json(found.record())
        return
    print_table(
        [("tile", "left"), ("was at", "left"), ("is at", "left")],
        [(tile.name, str(tile.at), str(found.layout.by_name[tile.name].at)) for tile in layout.tiles],
    )
    kind = "the least there is" if found.best else "no exchange of two tiles makes it less"
    print_record([("traffic", f"{found.before:g} → {found.after:g} bytes x links; {kind}")])


def _read(file: Path, graph: Path | None) -> tuple[Layout, Graph]:
    from rackwright.tiles import Graph, read_graph, read_layout
    from rackwright.tiles.hosting import tile_units

    return read_layout(file, tile_units()), Graph({}, {}) if graph is None else read_graph(graph)


def _print(verdict: Verdict) -> None:
    print_table(
        [("tile", "left"), ("at", "left"), ("holds", "left"), ("services", "left")],
        [
            (row["tile"], str(tuple(row["at"])), row["holds"], ", ".join(row["services"]))
            for row in verdict.tiles
        ],
    )
    if verdict.queues:
        print_table(
            [("queue", "left"), ("from", "left"), ("to", "left"), ("elements", "right"), ("hops", "right")],
            [
                (
                    row["queue"],
                    row["from"],
                    row["to"],
                    f"{row['elements']:,} of {row['element_bytes']} bytes",
                    str(row["hops"]),
                )
                for row in verdict.queues
            ],
        )
    longest = verdict.longest_route
    print_record(
        [
            (
                "longest route",
                f"{longest['from']} → {longest['to']}: {longest['hops']} hops, {longest['cycles']} cycles",
            ),
            ("legal", "yes" if verdict.legal else f"NO: {verdict.reason}"),
            *([] if verdict.legal else [("cycle", " → ".join([*verdict.witness, verdict.witness[0]]))]),
        ]
    )
