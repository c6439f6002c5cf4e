"""A chip as a block diagram."""

from __future__ import annotations

from collections.abc import Sequence

from rackwright.documentation.diagram import Box, Diagram, Layer
from rackwright.soc.check import LINE_BYTES, PlacedUnit, fixed_parts
from rackwright.soc.value import AddressRange, CacheConfig, Soc

_MOST_BOXES = 4
"""In a layer; more boxes go to further layers."""


def soc_diagram(soc: Soc, units: Sequence[PlacedUnit]) -> Diagram:
    """Layers of harts, their units, buses with the hub, and addressable parts."""
    caches = (_cache("I", soc.instruction_cache), _cache("D", soc.data_cache))
    harts = [Box(f"hart {hart}", ("Rocket", *caches), {}) for hart in range(len(soc.harts))]
    beside = [Box(unit.name, _reached(unit), {}) for unit in units]
    hub = Box("hub", (f"lines of {LINE_BYTES} bytes", f"{soc.trackers} at once"), {})
    buses = [Box("system bus", ("TileLink", f"{soc.bus_bits} bits"), {}), hub]
    fixed = [Box(_short(name), _place(place), {}) for name, place in fixed_parts(soc).items()]
    pins = [
        Box("memory", ("AXI4", *_place(soc.memory)), {}),
        Box("devices", ("AXI4", *_place(soc.devices)), {}),
    ]
    parts = (
        ("Harts", "blue", harts),
        ("Units", "orange", beside),
        ("Buses", "violet", buses),
        ("On chip", "grey", fixed),
        ("Pins", "green", pins),
    )
    layers = [
        Layer(name if not start else "", (), colour, tuple(boxes[start : start + _MOST_BOXES]))
        for name, colour, boxes in parts
        for start in range(0, len(boxes), _MOST_BOXES)
    ]
    of = f"two {soc.system_top} joined by {soc.joined_by}, " if soc.joined_by else ""
    return Diagram(f"Blocks of {soc.top}", f"{soc.top}: {of}{soc.clock_hz / 1e9:g} GHz", tuple(layers))


def _short(name: str) -> str:
    """The abbreviation of a name that has one."""
    return name.removeprefix("the ").rpartition("(")[2].rstrip(")")


def _cache(name: str, cache: CacheConfig) -> str:
    return f"{name} {cache.sets * cache.ways * LINE_BYTES // 1024} KiB, {cache.ways} ways"


def _reached(unit: PlacedUnit) -> tuple[str, ...]:
    if unit.registers is not None:
        return ("all harts", *_place(unit.registers))
    who = "all harts" if unit.hart is None else f"hart {unit.hart}"
    return (who, *(f"custom-{way.opcode}, {way.first} to {way.last}" for way in unit.routes))


def _place(place: AddressRange) -> tuple[str, str]:
    return f"{place.base:#x}", f"to {place.end - 1:#x}"
