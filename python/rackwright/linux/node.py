"""A server of a cluster that boots an image."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rackwright.errors import RackwrightError
from rackwright.linux.boot import COMMAND_LINE
from rackwright.linux.image import default_image, image_parts

if TYPE_CHECKING:
    from rackwright.cluster.nodes import Node

_STAY = "while sleep 3600; do :; done"
"""What a server does that is to answer only."""

_LEAST_MTU, _MOST_MTU = 68, 9578
"""The least of IPv4, and the longest frame of the network interface without Ethernet's header and tags."""


class LinuxNode:
    """What a server boots, and what its root does then."""

    def __init__(
        self,
        image: str | Path,
        run: str | Sequence[str | Node] | None,
        memory_bytes: int,
        mtu: int,
    ) -> None:
        """`image` is a path, or "default".

        Raises `RackwrightError` when it is no image, or for sizes that can't be.
        """
        if not _LEAST_MTU <= mtu <= _MOST_MTU:
            raise RackwrightError(f"an MTU is {_LEAST_MTU} to {_MOST_MTU} bytes, not {mtu}")
        self.path = default_image() if str(image) == "default" else Path(image)
        self._parts = image_parts(self.path)
        self.command: list[str | Node] = (
            [_STAY] if run is None else [run] if isinstance(run, str) else list(run)
        )
        self._memory_bytes = memory_bytes
        self._mtu = mtu

    def describe(self) -> dict[str, Any]:
        """As the engine reads it, without the command."""
        return {
            "image": {"path": str(self.path), **self._parts},
            "memory_bytes": self._memory_bytes,
            "command_line": COMMAND_LINE,
            "mtu": self._mtu,
        }
