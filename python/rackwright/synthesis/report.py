"""The report of a synthesis: figures, a map of the area, and the longest paths."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from rackwright.reports.page import page
from rackwright.synthesis.figures import Figures
from rackwright.synthesis.library import Library
from rackwright.synthesis.process import Process
from rackwright.synthesis.timing import TimedPath

_WIDTH, _HEIGHT = 1000.0, 420.0


def render(rows: Sequence[Figures], library: Library, process: Process) -> str:
    """The page for these designs."""
    lead = (
        f"Library {escape(library.name)}, FO4 {library.fo4 * 1000:.0f} ps. "
        "Clock and area are an estimate for a process with "
        f"{process.fo4_picoseconds:g} ps per FO4 and {process.gate_equivalent_um2:g} µm² per gate."
    )
    body = f'<h1>Synthesis</h1><p class="lead">{lead}</p>'
    return page("Synthesis", body + "".join(_unit(row) for row in rows))


def _unit(row: Figures) -> str:
    name = " ".join([row.unit, *(f"{key}={value}" for key, value in row.parameters.items())])
    headlines = (
        ("logic depth", f"{row.depth_fo4:.1f} FO4"),
        ("clock", f"{row.clock_hz / 1e9:.2f} GHz"),
        ("area", f"{row.area_mm2:.3f} mm²"),
        ("gate equivalents", f"{row.gate_equivalents:,}"),
        ("flops", f"{row.flops:,}"),
        ("SRAM", f"{row.sram_bits / 8192:.1f} KiB"),
    )
    cards = "".join(f'<div class="headline"><b>{value}</b>{title}</div>' for title, value in headlines)
    notes = "".join(f"<p>{escape(note)}</p>" for note in row.notes)
    return (
        f'<h2>{escape(name)}</h2><div class="headlines">{cards}</div>{notes}'
        f"<h2>Where the area goes</h2>{_map(row)}{_macros(row)}{_flops(row)}"
        f"<h2>The longest paths</h2>{_paths(row)}"
    )


def _map(row: Figures) -> str:
    """A map in which each rectangle has the share of its module or macro."""
    areas = [(f"{part.module} x{part.copies}", part.area_mm2, "core") for part in row.modules]
    areas += [(f"{part.memory} x{part.count}", part.area_mm2, "unit") for part in row.sram_macros]
    areas = sorted((area for area in areas if area[1] > 0), key=lambda area: -area[1])
    boxes = _rectangles([area for _, area, _ in areas], 0.0, 0.0, _WIDTH, _HEIGHT)
    shapes = []
    for (name, area, kind), (x, y, width, height) in zip(areas, boxes, strict=True):
        title = f"<title>{escape(name)}: {area:.4f} mm²</title>"
        shapes.append(
            f'<rect fill="var(--{kind})" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'stroke="var(--paper)">{title}</rect>'
        )
        if width > 9 * len(name) and height > 18:
            shapes.append(f'<text x="{x + 4:.1f}" y="{y + 15:.1f}">{escape(name)}</text>')
    return f'<svg viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}">{"".join(shapes)}</svg>'


def _rectangles(
    areas: Sequence[float], x: float, y: float, width: float, height: float
) -> list[tuple[float, float, float, float]]:
    """Cuts a rectangle into two of about half the area each, until each area has its own."""
    if len(areas) < 2:
        return [(x, y, width, height)] * len(areas)
    total, half, split = sum(areas), 0.0, 0
    while split < len(areas) - 1 and (split == 0 or half + areas[split] / 2 < total / 2):
        half += areas[split]
        split += 1
    share = half / total
    if width >= height:
        first = (x, y, width * share, height)
        second = (x + width * share, y, width * (1 - share), height)
    else:
        first = (x, y, width, height * share)
        second = (x, y + height * share, width, height * (1 - share))
    return _rectangles(areas[:split], *first) + _rectangles(areas[split:], *second)


def _macros(row: Figures) -> str:
    cells = (
        (
            part.memory,
            part.count,
            f"{part.depth} x {part.width}",
            part.ports,
            f"{part.access_picoseconds:.0f} ps",
            f"{part.area_mm2:.4f} mm²",
        )
        for part in row.sram_macros
    )
    return _table(("macro", "number", "words x bits", "ports", "access", "area"), cells)


def _flops(row: Figures) -> str:
    cells = (
        (
            part.memory,
            part.copies,
            f"{part.depth} x {part.width}",
            part.ports,
            "yes" if part.synchronous else "no",
        )
        for part in row.memories_in_flops
    )
    return _table(("memory made of flops", "number", "words x bits", "ports", "synchronous"), cells)


def _paths(row: Figures) -> str:
    """The longest path is shown cell by cell, the others on request."""
    return "".join(_path(path, opened=number == 0) for number, path in enumerate(row.paths))


def _path(path: TimedPath, *, opened: bool) -> str:
    title = f"{path.depth_fo4:.1f} FO4: {escape(path.start)} → {escape(path.end)}"
    cells = (
        (point.name, point.cell, f"{point.delay_fo4:.1f}", f"{point.arrival_fo4:.1f}")
        for point in path.points
    )
    table = _table(("point", "cell", "FO4", "arrives at"), cells)
    return f"<details{' open' if opened else ''}><summary>{title}</summary>{table}</details>"


def _table(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    head = "".join(f"<th>{escape(title)}</th>" for title in titles)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f'<div class="scroll"><table><tr>{head}</tr>{body}</table></div>' if body else ""
