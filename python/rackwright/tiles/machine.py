"""A server with the harts and units of a layout."""

from __future__ import annotations

from rackwright.machine.server import Server
from rackwright.tiles.layout import Layout, Tile
from rackwright.unit.config import UnitConfig


def tile_server(layout: Layout) -> Server:
    """A server of `rocket` harts with the units of a layout on its tiles."""
    return Server("rocket", tile_configs(layout), harts=hart_count(layout))


def tile_configs(layout: Layout, clock: str | None = None) -> list[UnitConfig]:
    """The units on the tiles, in the order of the file: each takes descriptors or packets from queues."""
    return [
        UnitConfig(tile.holds, tile.parameters, command=_command(tile), clock=clock)
        for tile in layout.tiles
        if not tile.is_hart
    ]


def _command(tile: Tile) -> str:
    if not tile.packets:
        return "queue"
    return "packets-mirrored" if tile.mirror else "packets"


def hart_count(layout: Layout) -> int:
    """The number of harts."""
    return sum(tile.is_hart for tile in layout.tiles)
