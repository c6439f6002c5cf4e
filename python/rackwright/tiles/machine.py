"""A server whose harts and units are those of a layout."""

from __future__ import annotations

from rackwright.tiles.layout import Layout
from rackwright.unit_config import UnitConfig


def tile_configs(layout: Layout, clock: str | None = None) -> list[UnitConfig]:
    """The units on the tiles, in the order of the file: each takes its commands from queues."""
    return [
        UnitConfig(tile.holds, tile.parameters, command="queue", clock=clock)
        for tile in layout.tiles
        if not tile.is_hart
    ]


def hart_count(layout: Layout) -> int:
    """How many harts there are."""
    return sum(tile.is_hart for tile in layout.tiles)
