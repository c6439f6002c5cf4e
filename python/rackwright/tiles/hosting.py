"""Which units can stand on a tile."""

from __future__ import annotations

from rackwright.designs import units


def tile_units() -> list[str]:
    """Those that take commands and access memory, and have no streams: a tile has nothing to join these to.

    Raises `MissingBuildError` before the hardware is built.
    """
    found = []
    for unit in units():
        contracts = {port["contract"] for port in unit.ports}
        if {"command", "memory"} <= contracts and "stream" not in contracts:
            found.append(unit.name)
    return found
