"""The units that can be placed on a tile."""

from __future__ import annotations

from rackwright.hardware.designs import units


def tile_units() -> list[str]:
    """Units that have commands and memory ports, but no streams, and `network`, which has packets.

    Raises `MissingBuildError` before the hardware is built.
    """
    found = []
    for unit in units():
        contracts = {port["contract"] for port in unit.ports}
        streams = {port["name"] for port in unit.ports if port["contract"] == "stream"}
        if ({"command", "memory"} <= contracts and not streams) or "stream_in_0" in streams:
            found.append(unit.name)
    return found
