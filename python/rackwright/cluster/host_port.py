"""Where a simulated network is joined to the machine that simulates it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rackwright.cluster.errors import TopologyError
from rackwright.cluster.nodes import Node


class HostPort(Node):
    """A port to the machine: a UNIX datagram `socket` at a path, or the TAP device `tap`, either of them.

    Each datagram is a frame, without preamble and check sequence; those for the machine go to whoever sent
    the last one. Simulated time passes at most `speed` times as fast as real time. What comes in comes when
    it comes, so that runs with a host port cannot be repeated. What is behind it has one address, `mac` and
    `ip`, which are assigned unless pinned: switches send it no other frames but broadcasts.
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
        """Raises `TopologyError` unless there is one of `socket` and `tap`."""
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
