"""A server with the harts and units of a layout."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.errors import RackwrightError
from rackwright.tiles.hosting import tile_units
from rackwright.tiles.layout import Layout, Tile, read_layout
from rackwright.tiles.timing import mesh_of_run
from rackwright.unit.config import UnitConfig

if TYPE_CHECKING:
    from rackwright.machine.server import Server


def tile_server(layout: Layout) -> Server:
    """A server of `rocket` harts with the units of a layout on its tiles."""
    from rackwright.machine.server import Server

    return Server("rocket", tile_configs(layout), harts=hart_count(layout), chip=mesh_of_run(layout))


def tile_configs(layout: Layout, clock: str | None = None) -> list[UnitConfig]:
    """The units on the tiles, in the order of the file: each takes descriptors or packets from queues."""
    return [
        UnitConfig(tile.holds, tile.parameters, command=_command(tile), clock=clock)
        for tile in layout.tiles
        if not tile.is_hart
    ]


def process_configs(file: Path, clock: str | None = None) -> list[UnitConfig]:
    """The units of a file of tiles as processes of an operating system use them, by virtual addresses.

    Raises `RackwrightError` for a tile that takes packets, whose registers processes cannot reach.
    """
    layout = read_layout(file, tile_units())
    for tile in layout.tiles:
        if tile.packets:
            raise RackwrightError(f"{file}: tile {tile.name} takes packets, which processes cannot use")
    return tile_configs(layout, clock)


def check_harts(file: Path, harts: int) -> None:
    """Raises `RackwrightError` if a machine with this number of harts is not that of a file of tiles."""
    wanted = hart_count(read_layout(file))
    if wanted != harts:
        raise RackwrightError(f"{file}: the tiles have {wanted} harts, and the machine {harts}")


def _command(tile: Tile) -> str:
    if not tile.packets:
        return "queue"
    return "packets-mirrored" if tile.mirror else "packets"


def hart_count(layout: Layout) -> int:
    """The number of harts."""
    return sum(tile.is_hart for tile in layout.tiles)
