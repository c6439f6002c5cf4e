"""Which units can stand on a tile."""

from __future__ import annotations

from rackwright.designs import units


def tile_units() -> list[str]:
    """Those that take commands and access memory, and have no streams, and `network`, which takes packets.

    Raises `MissingBuildError` before the hardware is built.
    """
    found = []
    for unit in units():
        contracts = {port["contract"] for port in unit.ports}
        streams = {port["name"] for port in unit.ports if port["contract"] == "stream"}
        if ({"command", "memory"} <= contracts and not streams) or "stream_in_0" in streams:
            found.append(unit.name)
    return found
