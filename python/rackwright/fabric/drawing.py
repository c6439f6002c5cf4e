"""A fabric as a picture: a row for each distance from the root, links with their generation and lanes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

from rackwright.fabric.system import System

_WIDTH, _ROW, _MARGIN = 1000, 130, 30
_BOX_WIDTH, _BOX_HEIGHT = 150, 54
_FILLS = {"root": "#dbe9f6", "switch": "#e7e2f3", "card": "#dff0e0"}


def svg(system: System, found: Sequence[Mapping[str, Any]] = ()) -> str:
    """The fabric as SVG; of cards that software has `found`, with their numbers."""
    rows: dict[int, list[str]] = defaultdict(list)
    depth = {str(system.root.name): 0}
    for link in system.links:
        depth[link.below] = depth[link.above] + 1
    for node in system.nodes:
        rows[depth[str(node.name)]].append(str(node.name))
    places = {
        name: (
            _MARGIN + (place + 0.5) * (_WIDTH - 2 * _MARGIN) / len(names),
            _MARGIN + _ROW * row + _BOX_HEIGHT / 2,
        )
        for row, names in rows.items()
        for place, name in enumerate(names)
    }
    height = 2 * _MARGIN + _ROW * (len(rows) - 1) + _BOX_HEIGHT
    ids = {card["name"]: card["id"] for card in found}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif">',
        f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>',
    ]
    for link in system.links:
        (x1, y1), (x2, y2) = places[link.above], places[link.below]
        parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#888"/>')
        label = f"Gen {link.link.gen} x{link.link.lanes}"
        parts.append(_text((x1 + x2) / 2 + 6, (y1 + y2) / 2, label, anchor="start"))
    kinds = {str(node.name): node.kind for node in system.nodes}
    for name, (x, y) in places.items():
        width = min(_BOX_WIDTH, 0.9 * (_WIDTH - 2 * _MARGIN) / len(rows[depth[name]]))
        parts.append(
            f'<rect x="{x - width / 2:.1f}" y="{y - _BOX_HEIGHT / 2:.1f}" width="{width:.1f}" '
            f'height="{_BOX_HEIGHT}" rx="4" fill="{_FILLS[kinds[name]]}" stroke="#555"/>'
        )
        parts.append(_text(x, y - 3, name))
        parts.append(_text(x, y + 16, ids.get(name, kinds[name]), size=12))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _text(x: float, y: float, text: str, *, anchor: str = "middle", size: int = 14) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{escape(text)}</text>'
