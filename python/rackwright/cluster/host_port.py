"""The connection of a simulated network to the host."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rackwright.cluster.errors import TopologyError
from rackwright.cluster.nodes import Node


class HostPort(Node):
    """A port to the machine: a UNIX datagram `socket` at a path, or the TAP device `tap`, either of them.

    Each datagram is a frame, without preamble and check sequence; frames for the host are sent to the latest
    sender. Simulated time passes at most `speed` times as fast as real time. Frames from the host arrive at
    arbitrary times, so that runs with a host port cannot be repeated. The host behind the port has one
    address, `mac` and `ip`, which are assigned unless given: switches send it only frames for this address
    and broadcasts.
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        socket: str | Path | None = None,
        tap: str | None = None,
        speed: float = 1.0,
        buffer_kib: float = 512,
        mac: str | None = None,
        ip: str | None = None,
    ) -> None:
        """Raises `TopologyError` unless exactly one of `socket` and `tap` is given."""
        super().__init__(name)
        if (socket is None) == (tap is None):
            raise TopologyError("a host port has a socket or a TAP device: HostPort(socket='/tmp/port')")
        self.socket = socket
        self.tap = tap
        self.speed = speed
        self.buffer_kib = buffer_kib
        self.mac = mac
        self.ip = ip

    def describe(self, names: Mapping[Node, str]) -> dict[str, Any]:
        """As the engine reads it, without its name."""
        return {
            "kind": "host_port",
            "wire": {"tap": self.tap} if self.tap else {"socket": str(self.socket)},
            "speed": self.speed,
            "buffer_bytes": round(self.buffer_kib * 1024),
            "mac": self.mac,
            "ip": self.ip,
        }
