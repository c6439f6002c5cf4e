"""A layout as SVG: routers, tiles, links, and the routes of a graph's queues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from xml.sax.saxutils import escape

from rackwright.tiles.graph import Graph
from rackwright.tiles.layout import Layout, Tile
from rackwright.tiles.mesh import Channel, Place

_PITCH, _MARGIN, _TILE, _ROUTER = 170, 30, 112, 16
_LINE = 18
_FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
_INK, _FAINT, _WIRE, _BUSY = "#1c2733", "#5c6b7a", "#c3ccd6", "#e07b39"
_FILL = {True: "#eaf2fb", False: "#fdf0e7", None: "#f3f5f7"}
"""Of a hart, of a unit, and of a place without a tile."""


def draw(layout: Layout, graph: Graph | None = None) -> str:
    """The drawing, on a background of its own; links are the wider, the more queues of the graph pass."""
    graph = graph or Graph({}, {})
    mesh = layout.mesh
    passed = _passed(layout, graph)
    width = 2 * _MARGIN + mesh.width * _PITCH
    height = 2 * _MARGIN + mesh.height * _PITCH + _LINE
    named = {tile.at: tile for tile in layout.tiles}
    parts = [line for place in mesh.places() for line in _links(layout, place, passed)]
    parts += [line for place in mesh.places() for line in _tile(layout, graph, place, named.get(place))]
    shape = f"{mesh.width} x {mesh.height}, {mesh.routing}, flits of {mesh.flit_bytes} bytes"
    caption = f"{shape}; memory at {layout.memory}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
            f'font-family="{_FONT}" font-size="12">',
            f"<title>{escape(caption)}</title>",
            f'<rect width="{width}" height="{height}" rx="12" fill="#ffffff"/>',
            *parts,
            _text(width / 2, height - _MARGIN / 2, caption, _FAINT, anchor="middle"),
            "</svg>",
            "",
        ]
    )


def _passed(layout: Layout, graph: Graph) -> Counter[tuple[Place | None, Place | None]]:
    """The number of the graph's queues on each link."""
    passed: Counter[tuple[Place | None, Place | None]] = Counter()
    for queue in graph.queues.values():
        start, end = (layout.by_name[graph.services[name].tile].at for name in (queue.sender, queue.receiver))
        passed.update(_link(channel) for channel in layout.mesh.channels(0, start, end))
    return passed


def _link(channel: Channel) -> tuple[Place | None, Place | None]:
    return channel.start, channel.end


def _router(place: Place) -> tuple[float, float]:
    return _MARGIN + place.x * _PITCH + _ROUTER, _MARGIN + place.y * _PITCH + _ROUTER


def _links(layout: Layout, place: Place, passed: Counter[tuple[Place | None, Place | None]]) -> Iterator[str]:
    x, y = _router(place)
    for beside in (place._replace(x=place.x + 1), place._replace(y=place.y + 1)):
        if beside in layout.mesh.places():
            far_x, far_y = _router(beside)
            count = passed[(place, beside)] + passed[(beside, place)]
            yield (
                f'<line x1="{x:.0f}" y1="{y:.0f}" x2="{far_x:.0f}" y2="{far_y:.0f}" '
                f'stroke="{_BUSY if count else _WIRE}" stroke-width="{3 + 2 * count}"/>'
            )


def _tile(layout: Layout, graph: Graph, place: Place, tile: Tile | None) -> Iterator[str]:
    x, y = _router(place)
    left, top = x + _ROUTER, y + _ROUTER
    fill = _FILL[tile.is_hart if tile else None]
    yield (
        f'<line x1="{x:.0f}" y1="{y:.0f}" x2="{left:.0f}" y2="{top:.0f}" stroke="{_WIRE}" stroke-width="3"/>'
    )
    yield (
        f'<rect x="{left:.0f}" y="{top:.0f}" width="{_TILE}" height="{_TILE}" rx="8" fill="{fill}" '
        f'stroke="{_FAINT}"/>'
    )
    yield (
        f'<rect x="{x - _ROUTER / 2:.0f}" y="{y - _ROUTER / 2:.0f}" width="{_ROUTER}" height="{_ROUTER}" '
        f'fill="{_FAINT}"/>'
    )
    if place == layout.memory:
        yield _text(x, y - _ROUTER / 2 - 4, "memory", _FAINT, anchor="middle")
    if tile is None:
        return
    services = [service.name for service in graph.services.values() if service.tile == tile.name]
    for number, line in enumerate([tile.name, tile.holds, str(place), *services]):
        ink = _INK if number == 0 else _FAINT
        yield _text(left + 8, top + (number + 1) * _LINE, line, ink, weight=600 if number == 0 else 400)


def _text(x: float, y: float, text: str, fill: str, weight: int = 400, anchor: str = "start") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{fill}" font-weight="{weight}" '
        f'text-anchor="{anchor}">{escape(text)}</text>'
    )
