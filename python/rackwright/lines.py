"""Line charts as inline SVG: no plotting library, no external file, sharp at any size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

Points = Sequence[tuple[float, float]]
"""Pairs (x, y), in the order of x."""

_WIDTH, _HEIGHT = 640, 380
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 20, 34, 48
_COLOURS = ("#4b82c4", "#d9722e", "#5fa55a", "#a05cb0", "#8a97a6", "#c4a23b", "#3fa6a6", "#c0504d")
_TICKS = 5


def line_chart(title: str, x_label: str, y_label: str, series: Mapping[str, Points]) -> str:
    """A line for each of `series`, by name, with marks at its points; both axes are linear, from zero."""
    x_top = max(x for points in series.values() for x, _ in points)
    y_top = max(y for points in series.values() for _, y in points) or 1.0

    def place(x: float, y: float) -> tuple[float, float]:
        across = _LEFT + x / x_top * (_WIDTH - _LEFT - _RIGHT)
        return across, _HEIGHT - _BOTTOM - y / y_top * (_HEIGHT - _TOP - _BOTTOM)

    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title)}">',
        f'<text x="0" y="18" class="chart-title">{escape(title)}</text>',
        f'<text x="{_WIDTH / 2}" y="{_HEIGHT - 8}" class="middle">{escape(x_label)}</text>',
        f'<text x="{_LEFT - 8}" y="{_TOP - 2}" class="chart-label">{escape(y_label)}</text>',
    ]
    for tick in range(_TICKS + 1):
        x, y = x_top * tick / _TICKS, y_top * tick / _TICKS
        across, up = place(x, 0)[0], place(0, y)[1]
        parts += [
            f'<line x1="{_LEFT}" y1="{up:.1f}" x2="{_WIDTH - _RIGHT}" y2="{up:.1f}" class="axis"/>',
            f'<text x="{across:.1f}" y="{_HEIGHT - _BOTTOM + 18}" class="middle">{x:.3g}</text>',
            f'<text x="{_LEFT - 8}" y="{up + 5:.1f}" class="chart-label">{y:.3g}</text>',
        ]
    for index, (name, points) in enumerate(series.items()):
        parts += _line(name, [place(x, y) for x, y in points], index)
    return "\n".join([*parts, "</svg>"])


def _line(name: str, places: Points, index: int) -> list[str]:
    colour = _COLOURS[index % len(_COLOURS)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    marks = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
    legend_y = _TOP + 18 * (index + 1)
    return [
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>',
        *marks,
        f'<rect x="{_LEFT + 12}" y="{legend_y - 10}" width="12" height="12" fill="{colour}"/>',
        f'<text x="{_LEFT + 30}" y="{legend_y}">{escape(name)}</text>',
    ]
