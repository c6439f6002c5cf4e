"""Bar charts as inline SVG: no plotting library, no external file, sharp at any size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDTH = 640
_LABEL_WIDTH = 120
_VALUE_WIDTH = 110
_BAR_HEIGHT = 26
_GAP = 10
_TOP = 34


@dataclass(frozen=True)
class Bar:
    """One bar: its label, its length, the text at its end and the style class that colours it."""

    label: str
    value: float
    text: str
    style: str


def bar_chart(title: str, bars: Sequence[Bar]) -> str:
    """Horizontal bars on a linear scale from zero, the longest as long as the chart is wide."""
    longest = max((bar.value for bar in bars), default=0.0)
    height = _TOP + len(bars) * (_BAR_HEIGHT + _GAP)
    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(title)}">',
        f'<text x="0" y="18" class="chart-title">{escape(title)}</text>',
    ]
    for index, bar in enumerate(bars):
        parts.append(_bar(bar, longest, _TOP + index * (_BAR_HEIGHT + _GAP)))
    parts.append("</svg>")
    return "\n".join(parts)


def _bar(bar: Bar, longest: float, top: int) -> str:
    room = _WIDTH - _LABEL_WIDTH - _VALUE_WIDTH
    width = max(1.5, room * bar.value / longest) if longest else 1.5
    middle = top + _BAR_HEIGHT / 2 + 5
    return (
        f'<text x="{_LABEL_WIDTH - 10}" y="{middle}" class="chart-label">{escape(bar.label)}</text>'
        f'<rect x="{_LABEL_WIDTH}" y="{top}" width="{width:.1f}" height="{_BAR_HEIGHT}" rx="3" '
        f'class="{escape(bar.style)}"><title>{escape(bar.label)}: {escape(bar.text)}</title></rect>'
        f'<text x="{_LABEL_WIDTH + width + 8:.1f}" y="{middle}" class="chart-value">'
        f"{escape(bar.text)}</text>"
    )
