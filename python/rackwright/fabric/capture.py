"""Captured packets as records: time, port, and every field by its name in the specification."""

from __future__ import annotations

import json
from typing import Any

from rackwright import _engine
from rackwright.fabric.fabric import Packet


def packet_record(packet: Packet) -> dict[str, Any]:
    """A packet in the format of a line of a capture: `fields` are those of the engine's own decoder."""
    return {
        "nanoseconds": packet.picosecond / 1000,
        "port": packet.port,
        "sequence": packet.sequence,
        "lcrc": packet.check,
        "fields": json.loads(_engine.packet_fields(packet.data)),
        "bytes": packet.data.hex(),
    }
