"""Charts as inline SVG, drawn by pygal in the style of our pages: no script, no external file."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pygal
from pygal.style import Style

Points = Sequence[tuple[float, float]]
"""Pairs (x, y), in the order of x."""

_COLOURS = ("#4b82c4", "#d9722e", "#5fa55a", "#a05cb0", "#8a97a6", "#c4a23b", "#3fa6a6", "#c0504d")
_FONT = "system-ui, sans-serif"
_NOT_DRAWN = re.compile(r"<!--.*?-->|<script.*?</script>", re.DOTALL)
"""Parts of charts that are removed: the time of creation, and data for scripts."""

_WIDTH = 640
_BAR_HEIGHT, _STACKED_HEIGHT, _AROUND_BARS = 36, 22, 60

# Colours of the page, which also has a dark theme.
_INK, _SOFT, _LINE = "var(--ink)", "var(--soft)", "var(--line)"
_ALONE = {"ink": "#22303f", "soft": "#6b7785", "line": "#d5dbe2"}


@dataclass(frozen=True)
class Bar:
    """One bar: its label, its length, the text beside it, and which of the page's colours it has."""

    label: str
    value: float
    text: str
    style: str


def line_chart(title: str, x_label: str, y_label: str, series: Mapping[str, Points]) -> str:
    """A line for each of `series`, by name, with marks at its points; both axes are linear, from zero."""
    x_top = max(x for points in series.values() for x, _ in points)
    y_top = max(y for points in series.values() for _, y in points) or 1.0
    chart = pygal.XY(
        **_options(title, 380),
        x_title=x_label,
        y_title=y_label,
        xrange=(0, x_top),
        range=(0, y_top),
        x_value_formatter=_number,
        value_formatter=_number,
        legend_at_bottom=True,
        truncate_legend=-1,
        dots_size=3,
    )
    for name, points in series.items():
        chart.add(name, list(points))
    return _drawn(chart, title)


def bar_chart(title: str, bars: Sequence[Bar]) -> str:
    """Horizontal bars on a linear scale from zero, the first one on top."""
    chart = pygal.HorizontalBar(
        **_options(title, _AROUND_BARS + _BAR_HEIGHT * len(bars)),
        show_legend=False,
        show_x_labels=False,
        truncate_label=-1,
        rounded_bars=3,
    )
    upward = list(reversed(bars))
    # A short bar has no room for a label.
    chart.x_labels = [f"{bar.label}: {bar.text}" if bar.label else bar.text for bar in upward]
    chart.add("", [_value(bar) for bar in upward])
    return _drawn(chart, title)


def stacked_chart(
    title: str, x_label: str, labels: Sequence[str], parts: Mapping[str, Sequence[float]]
) -> str:
    """A horizontal bar for each label, the first one on top, stacked from `parts`.

    A file of its own, whose colours do not come from a page.
    """
    chart = pygal.HorizontalStackedBar(
        **_options(title, 2 * _AROUND_BARS + _STACKED_HEIGHT * len(labels)),
        x_title=x_label,
        truncate_label=-1,
        truncate_legend=-1,
        legend_at_bottom=True,
        legend_at_bottom_columns=len(parts),
        value_formatter=_number,
    )
    chart.x_labels = list(reversed(labels))
    for name, values in parts.items():
        chart.add(name, list(reversed(values)))
    drawn = _drawn(chart, title)
    for name, colour in _ALONE.items():
        drawn = drawn.replace(f"var(--{name})", colour)
    return drawn


def _value(bar: Bar) -> dict[str, Any]:
    return {
        "value": bar.value,
        "color": f"var(--{bar.style})",
        "formatter": lambda _, text=bar.text: text,
    }


def _number(value: float) -> str:
    return f"{value:.3g}"


def _options(title: str, height: int) -> dict[str, Any]:
    style = Style(
        background="transparent",
        plot_background="transparent",
        foreground=_INK,
        foreground_strong=_INK,
        foreground_subtle=_SOFT,
        guide_stroke_color=_LINE,
        major_guide_stroke_color=_LINE,
        colors=_COLOURS,
        opacity="1",
        opacity_hover="1",
        font_family=_FONT,
        title_font_size=15,
        label_font_size=13,
        major_label_font_size=13,
        legend_font_size=13,
    )
    return {
        "title": title,
        "style": style,
        "width": _WIDTH,
        "height": height,
        "js": [],
        "disable_xml_declaration": True,
    }


def _drawn(chart: Any, title: str) -> str:
    """The chart as SVG: the same today and tomorrow, with a name for its styles that no other has."""
    drawn = chart.render(is_unicode=True)
    name = hashlib.sha256(drawn.replace(chart.uuid, "").encode()).hexdigest()[:12]
    return _NOT_DRAWN.sub("", drawn).replace(chart.uuid, name)
