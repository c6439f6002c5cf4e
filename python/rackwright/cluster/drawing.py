"""A topology as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import escape

from rackwright.cluster.topology import Topology, describe_link

_WIDTH, _ROW, _MARGIN, _BOX = 1200, 110, 30, 18
_LABELLED = 40
"""Levels with more nodes than this are drawn without names, and links without labels: they would overlap."""


def svg(topology: Topology) -> str:
    """The topology as SVG: a row for each level, switches filled, links with their latency and speed."""
    levels = topology.levels()
    places = {
        name: (_MARGIN + (index + 0.5) * (_WIDTH - 2 * _MARGIN) / len(level), _MARGIN + _ROW * (row + 0.5))
        for row, level in enumerate(levels)
        for index, name in enumerate(level)
    }
    height = 2 * _MARGIN + _ROW * len(levels)
    switches = set(topology.switches())
    links = topology.description["links"]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif">',
        '<g stroke="#888" stroke-width="1">',
        *(_line(link, places) for link in links),
        "</g>",
        *(_label(link, places) for link in links if len(links) <= _LABELLED),
    ]
    for level in levels:
        size = min(_BOX, 0.8 * (_WIDTH - 2 * _MARGIN) / len(level))
        parts += [_box(name, places[name], size, name in switches, len(level) <= _LABELLED) for name in level]
    return "\n".join([*parts, "</svg>"]) + "\n"


Places = Mapping[str, tuple[float, float]]


def _line(link: Mapping[str, Any], places: Places) -> str:
    one, other = (places[end] for end in link["ends"])
    return (
        f'<line x1="{one[0]:.1f}" y1="{one[1]:.1f}" x2="{other[0]:.1f}" y2="{other[1]:.1f}">'
        f"<desc>{describe_link(link)}</desc></line>"
    )


def _label(link: Mapping[str, Any], places: Places) -> str:
    """A third of the way from the lower end, where lines to one switch are apart."""
    one, other = (places[end] for end in link["ends"])
    x, y = ((far + 2 * near) / 3 for far, near in zip(one, other, strict=True))
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="8" fill="#555">{describe_link(link)}</text>'


def _box(name: str, place: tuple[float, float], size: float, is_switch: bool, labelled: bool) -> str:
    x, y = place
    fill = "#3465a4" if is_switch else "#fff"
    box = (
        f'<rect x="{x - size / 2:.1f}" y="{y - size / 2:.1f}" width="{size:.1f}" height="{size:.1f}" '
        f'fill="{fill}" stroke="#222"><title>{escape(name)}</title></rect>'
    )
    if not labelled:
        return box
    label = (
        f'<text x="{x:.1f}" y="{y + size + 8:.1f}" text-anchor="middle" font-size="10">{escape(name)}</text>'
    )
    return box + label
