"""Block diagrams as SVG, drawn from a YAML description: layers from top to bottom, of boxes in a row.

A description has `title` (the text alternative), `caption` (one line below the drawing) and `layers`. A layer
has `name`, `note`, `colour` and `boxes`; a box has `title`, `lines` of text, and lists of the code that it
represents (`units`, `crates`, `verbs`…), which a test compares with the code and which are not drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import yaml

_WIDTH, _MARGIN, _GAP = 1000, 16, 12
_NAME_WIDTH = 132
_LINE, _TITLE, _PADDING = 17, 22, 12
_ARROW = 20
_FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
_COLOURS = {
    "grey": ("#f3f5f7", "#c3ccd6"),
    "orange": ("#fdf0e7", "#e8a87c"),
    "blue": ("#eaf2fb", "#8fb4de"),
    "green": ("#edf6ec", "#96c591"),
    "violet": ("#f5eef8", "#c39bcf"),
}
"""The fill of a layer, and the border of its boxes."""


@dataclass(frozen=True)
class Box:
    """A box with its text."""

    title: str
    lines: tuple[str, ...]
    stands_for: dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Layer:
    """Boxes of one kind, side by side, each as wide as the others."""

    name: str
    note: tuple[str, ...]
    colour: str
    boxes: tuple[Box, ...]

    @property
    def height(self) -> int:
        """Of its boxes, in pixels."""
        return 2 * _PADDING + _TITLE + _LINE * max(len(box.lines) for box in self.boxes)


@dataclass(frozen=True)
class Diagram:
    """Layers from top to bottom."""

    title: str
    caption: str
    layers: tuple[Layer, ...]

    def all_of(self, kind: str) -> list[str]:
        """The code that the boxes represent, such as all their `units`, in the order of the drawing."""
        boxes = [box for layer in self.layers for box in layer.boxes]
        return [name for box in boxes for name in box.stands_for.get(kind, ())]

    def svg(self) -> str:
        """The drawing, on a background of its own, for light pages and dark ones."""
        top, parts = _MARGIN, []
        for index, layer in enumerate(self.layers):
            if index:
                parts.append(_arrow(top))
                top += _ARROW
            parts += _drawn(layer, top)
            top += layer.height + 2 * _GAP
        height = top + 2 * _LINE
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" '
                f'font-family="{_FONT}" font-size="13">',
                f"<title>{escape(self.title)}</title>",
                f'<rect width="{_WIDTH}" height="{height}" rx="12" fill="#ffffff"/>',
                *parts,
                _text(_WIDTH / 2, top + _LINE + 2, self.caption, "#5c6b7a", anchor="middle"),
                "</svg>",
                "",
            ]
        )


def read_diagram(path: Path) -> Diagram:
    """The diagram that the YAML file describes."""
    described = yaml.safe_load(path.read_text(encoding="utf-8"))
    layers = tuple(_layer(layer) for layer in described["layers"])
    return Diagram(described["title"], described["caption"], layers)


def _layer(described: dict[str, Any]) -> Layer:
    boxes = tuple(_box(dict(box)) for box in described["boxes"])
    return Layer(described["name"], tuple(described.get("note", ())), described["colour"], boxes)


def _box(described: dict[str, Any]) -> Box:
    title, lines = described.pop("title"), tuple(described.pop("lines"))
    return Box(title, lines, {kind: tuple(names) for kind, names in described.items()})


def _drawn(layer: Layer, top: int) -> list[str]:
    fill, border = _COLOURS[layer.colour]
    outer_width, outer_height = _WIDTH - 2 * _MARGIN, layer.height + 2 * _GAP
    parts = [
        f'<rect x="{_MARGIN}" y="{top}" width="{outer_width}" height="{outer_height}" rx="10" '
        f'fill="{fill}"/>',
        _text(_MARGIN + _GAP, top + _GAP + _PADDING + 10, layer.name, "#1c2733", weight=700, size=16),
    ]
    below = top + _GAP + _PADDING + 10 + _TITLE
    for number, line in enumerate(layer.note):
        parts.append(_text(_MARGIN + _GAP, below + number * _LINE, line, "#5c6b7a"))
    left = _MARGIN + _NAME_WIDTH
    width = (_WIDTH - _MARGIN - _GAP - left + _GAP) / len(layer.boxes) - _GAP
    for number, box in enumerate(layer.boxes):
        x = left + number * (width + _GAP)
        parts.append(
            f'<rect x="{x:.1f}" y="{top + _GAP}" width="{width:.1f}" height="{layer.height}" rx="7" '
            f'fill="#ffffff" stroke="{border}" stroke-width="1.5"/>'
        )
        baseline = top + _GAP + _PADDING + 10
        parts.append(_text(x + _PADDING, baseline, box.title, "#1c2733", weight=600, size=14))
        for count, line in enumerate(box.lines):
            parts.append(_text(x + _PADDING, baseline + _TITLE + count * _LINE, line, "#3c4a58"))
    return parts


def _arrow(top: int) -> str:
    x, end = _WIDTH / 2, top + _ARROW
    return (
        f'<path d="M{x} {top + 2} V{end - 7} M{x - 5} {end - 8} L{x} {end - 2} L{x + 5} {end - 8}" '
        'fill="none" stroke="#8a97a6" stroke-width="2"/>'
    )


def _text(
    x: float, y: float, text: str, fill: str, weight: int = 400, size: int = 13, anchor: str = "start"
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{fill}" font-weight="{weight}" font-size="{size}" '
        f'text-anchor="{anchor}">{escape(text)}</text>'
    )
