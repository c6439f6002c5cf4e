"""A server as a block diagram."""

from __future__ import annotations

from rackwright.documentation.diagram import Box, Diagram, Layer
from rackwright.machine_map.parts import Part, ServerMap

_MOST_BOXES = 4
"""In a layer; more parts go to further layers."""

_LAYERS = (
    ("Harts", "blue", ("harts",)),
    ("Units", "orange", ("unit",)),
    ("Memory", "green", ("memory",)),
    ("Devices", "grey", ("device",)),
    ("PCI bus", "violet", ("pci",)),
)


def map_diagram(server: ServerMap) -> Diagram:
    """Layers of harts, units, memory, devices and PCI functions, each part with its place and clock."""
    layers = [
        Layer(
            title if not start else "",
            (),
            colour,
            tuple(_box(part) for part in parts[start : start + _MOST_BOXES]),
        )
        for title, colour, kinds in _LAYERS
        for parts in [server.of_kind(*kinds)]
        for start in range(0, len(parts), _MOST_BOXES)
    ]
    caption = f"{server.name}: {server.harts} x {server.cpu}, {server.runs}"
    return Diagram(f"Parts of {server.name}", caption, tuple(layers))


def _box(part: Part) -> Box:
    lines = [part.detail] if part.detail and part.kind != "unit" else []
    return Box(part.name, (*lines, *place_lines(part), f"{part.clock_hz / 1e9:g} GHz"), {})


def place_lines(part: Part) -> list[str]:
    """How a part is reached, one line for each way."""
    lines = [f"custom-{opcode}, functs {first}-{last}" for opcode, first, last in part.functs]
    if part.address is not None:
        lines.append(f"0x{part.address:x}" + (f", {_size(part.size_bytes)}" if part.size_bytes else ""))
    if part.interrupt is not None:
        lines.append(f"interrupt {part.interrupt}")
    return lines


def _size(count: int) -> str:
    """Bytes in the largest binary unit of which they are a multiple."""
    for power, unit in ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if count % (1 << power) == 0:
            return f"{count >> power} {unit}"
    return f"{count} B"
