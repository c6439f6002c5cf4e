"""A topology as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

from rackwright.cluster.result import ClusterResult
from rackwright.cluster.topology import Topology, describe_link

_WIDTH, _ROW, _MARGIN, _BOX = 1200, 110, 30, 18
_WIDEST = 5.0
_LABELLED = 40
"""Levels with more nodes than this are drawn without names, and links without labels: they would overlap."""


def svg(topology: Topology, result: ClusterResult | None = None) -> str:
    """The topology as SVG: a row for each level, switches filled, links with their latency and speed.

    With the `result` of a run, links show instead the traffic per second of the busier direction, and their
    width grows with it.
    """
    levels = topology.levels()
    places = {
        name: (_MARGIN + (index + 0.5) * (_WIDTH - 2 * _MARGIN) / len(level), _MARGIN + _ROW * (row + 0.5))
        for row, level in enumerate(levels)
        for index, name in enumerate(level)
    }
    height = 2 * _MARGIN + _ROW * len(levels)
    switches = set(topology.switches())
    links = topology.description["links"]
    if result is None:
        labels, widths = [describe_link(link).split(", ") for link in links], [1.0] * len(links)
    else:
        rates = _rates(result)
        each = [max(rates.get((a, b), 0.0), rates.get((b, a), 0.0)) for a, b in _ends(links)]
        labels, most = [[_rate(rate)] for rate in each], max(each, default=0.0) or 1.0
        widths = [0.5 + _WIDEST * rate / most for rate in each]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif">',
        f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>',
        '<g stroke="#888">',
        *(_line(link, places, width) for link, width in zip(links, widths, strict=True)),
        "</g>",
        *(
            _label(link, places, lines)
            for link, lines in zip(links, labels, strict=True)
            if len(links) <= _LABELLED
        ),
    ]
    for level in levels:
        size = min(_BOX, 0.8 * (_WIDTH - 2 * _MARGIN) / len(level))
        parts += [_box(name, places[name], size, name in switches, len(level) <= _LABELLED) for name in level]
    return "\n".join([*parts, "</svg>"]) + "\n"


Places = Mapping[str, tuple[float, float]]


def _ends(links: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    return [(link["ends"][0], link["ends"][1]) for link in links]


def _rates(result: ClusterResult) -> dict[tuple[str, str], float]:
    """Bits per second from one node to another, summed over parallel links."""
    seconds = result.cycles / result.clock_hz
    rates: dict[tuple[str, str], float] = {}
    for name, peer, sent in result.ports[["name", "peer", "sent_bytes"]].itertuples(index=False):
        way = (name.rpartition(".")[0], peer.rpartition(".")[0])
        rates[way] = rates.get(way, 0.0) + 8 * sent / seconds
    return rates


def _rate(bits_per_second: float) -> str:
    if bits_per_second >= 1e9:
        return f"{bits_per_second / 1e9:.3g} Gbit/s"
    return f"{bits_per_second / 1e6:.3g} Mbit/s"


def _line(link: Mapping[str, Any], places: Places, width: float) -> str:
    one, other = (places[end] for end in link["ends"])
    return (
        f'<line x1="{one[0]:.1f}" y1="{one[1]:.1f}" x2="{other[0]:.1f}" y2="{other[1]:.1f}" '
        f'stroke-width="{width:.1f}">'
        f"<desc>{describe_link(link)}</desc></line>"
    )


def _label(link: Mapping[str, Any], places: Places, lines: Sequence[str]) -> str:
    """A quarter of the way from the lower end, where the lines to one switch are still separate."""
    one, other = (places[end] for end in link["ends"])
    x, y = ((far + 3 * near) / 4 for far, near in zip(one, other, strict=True))
    return "".join(
        f'<text x="{x:.1f}" y="{y + 10 * number:.1f}" font-size="9" fill="#333" stroke="#fff" '
        f'stroke-width="3" paint-order="stroke" text-anchor="middle">{line}</text>'
        for number, line in enumerate(lines)
    )


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
