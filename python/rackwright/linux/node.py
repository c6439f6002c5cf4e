"""A server of a cluster that runs Linux."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rackwright.errors import RackwrightError
from rackwright.linux.boot import COMMAND_LINE
from rackwright.linux.features import NicFeatures
from rackwright.linux.image import default_image, image_parts

if TYPE_CHECKING:
    from rackwright.cluster.nodes import Node

_STAY = "while sleep 3600; do :; done"
"""The command of a server that only responds."""

_LEAST_MTU, _MOST_MTU = 68, 9578
"""The minimum of IPv4, and the interface's maximum frame without Ethernet's header and tags."""


class LinuxNode:
    """The start of a server, and root's command after it has booted."""

    def __init__(
        self,
        start: Mapping[str, object],
        run: str | Sequence[str | Node] | None,
        mtu: int,
        features: NicFeatures,
    ) -> None:
        """`start` is created by `from_reset` or `from_checkpoint`; `features` are those of its interface.

        Raises `RackwrightError` for an MTU that can't be.
        """
        if not _LEAST_MTU <= mtu <= _MOST_MTU:
            raise RackwrightError(f"an MTU is {_LEAST_MTU} to {_MOST_MTU} bytes, not {mtu}")
        self.command: list[str | Node] = (
            [_STAY] if run is None else [run] if isinstance(run, str) else list(run)
        )
        self._start = start
        self._mtu = mtu
        self._features = features

    @property
    def memory_bytes(self) -> int | None:
        """Bytes of memory; None for a server restored from a checkpoint, which determines it."""
        reset = self._start.get("reset")
        return reset["memory_bytes"] if isinstance(reset, dict) else None

    def describe(self) -> dict[str, Any]:
        """As the engine reads it, without the command."""
        return {"start": self._start, "mtu": self._mtu, "features": self._features.describe()}


def from_reset(
    image: str | Path, harts: int, memory_bytes: int, *, vector: bool = False
) -> dict[str, object]:
    """The start of a server that boots `image`, a path or "default", on harts with vector units or without.

    Raises `RackwrightError` when it is no image.
    """
    return {
        "reset": {
            "harts": harts,
            "memory_bytes": memory_bytes,
            "vector": vector,
            "image": _image(image),
            "command_line": COMMAND_LINE,
        }
    }


def from_checkpoint(path: str | Path, image: str | Path | None = None) -> dict[str, object]:
    """The start of a server from the checkpoint of one that has booted `image`.

    Raises `RackwrightError` when there is no such file, or it is no image.
    """
    if not Path(path).is_file():
        raise RackwrightError(f"{path}: no such file")
    return {"booted": {"checkpoint": str(path), "image": None if image is None else _image(image)}}


def image_path(image: str | Path | None) -> Path:
    """The path of an image; of the default one without."""
    return default_image() if image is None or str(image) == "default" else Path(image)


def _image(image: str | Path) -> dict[str, object]:
    """As the engine reads it."""
    path = image_path(image)
    return {"path": str(path), **image_parts(path)}
