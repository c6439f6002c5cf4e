"""Features of a Linux server's network interface for its driver."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from rackwright.errors import RackwrightError

_MOST_FRAMES, _MOST_CYCLES = (1 << 16) - 1, (1 << 32) - 1
"""The values of the unit's registers."""


@dataclass(frozen=True)
class NicFeatures:
    """The features of its virtio front end: hardware/src/main/scala/rackwright/nic/virtio/README.md.

    With `checksums`, the interface computes the checksums of frames that it sends, and verifies those of TCP
    in frames that it receives. With `mergeable`, a frame may fill several of the driver's buffers. With
    `suppression`, it interrupts only when the driver requests it, otherwise for every frame in either
    direction. It interrupts for `frames` of them at once, or `delay` cycles of the network after the first
    one.
    """

    checksums: bool = False
    mergeable: bool = False
    suppression: bool = True
    frames: int = 0
    delay: int = 0

    def __post_init__(self) -> None:
        """Raises `RackwrightError` for numbers that the registers don't hold."""
        if not 0 <= self.frames <= _MOST_FRAMES:
            raise RackwrightError(f"an interrupt coalesces 0 to {_MOST_FRAMES} frames, not {self.frames}")
        if not 0 <= self.delay <= _MOST_CYCLES:
            raise RackwrightError(f"an interrupt waits for 0 to {_MOST_CYCLES} cycles, not {self.delay}")

    def describe(self) -> dict[str, Any]:
        """As the engine reads it."""
        return asdict(self)
