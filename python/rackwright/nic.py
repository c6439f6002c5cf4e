"""The network interface alone: its registers, frames that it sends and frames that reach it.

The register map is in hardware/src/main/scala/rackwright/nic/README.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from pathlib import Path

from rackwright.commands import STATUS_NAMES
from rackwright.designs import ParameterValue, elaborate
from rackwright.unit import Buffer, Unit
from rackwright.unit_config import UnitConfig

MAX_FRAME_BYTES = 9600
FLIT_BYTES = 8

COUNTERS = (
    "sent_frames",
    "sent_bytes",
    "received_frames",
    "received_bytes",
    "dropped_full",
    "dropped_length",
    "refused_requests",
)
"""Names of the counters in the order of their registers."""


class Register(IntEnum):
    """Byte offsets of the registers."""

    SEND_REQUEST = 0x00
    RECEIVE_REQUEST = 0x08
    SEND_COMPLETION = 0x10
    RECEIVE_COMPLETION = 0x18
    COUNTS = 0x20
    MAC_ADDRESS = 0x28
    INTERRUPT_ENABLE = 0x30
    RATE = 0x38
    SEND_CHECKSUM = 0x40
    RECEIVE_CHECKSUM = 0x48
    MODERATION = 0x50
    FIRST_COUNTER = 0x80


@dataclass(frozen=True)
class SendChecksum:
    """A checksum to put into a frame: summed from byte `start` to the end, stored at byte `offset`.

    `initial` is what the sum begins with: that of a pseudo header.
    """

    start: int
    offset: int
    initial: int = 0


@dataclass(frozen=True)
class FrameCompletion:
    """How a frame ended: `length` of the frame; `sum`, if switched on, of a received one."""

    status: str
    length: int
    sum: int


@dataclass(frozen=True)
class Waiting:
    """Free places in the two request queues, completions that wait in the two others."""

    send_places: int
    receive_places: int
    sent: int
    received: int


@cache
def server_nic(*, virtio: bool = False) -> Path:
    """The manifest of the network interface of a server; with `virtio`, Debian's own driver knows it.

    It has 16 bytes per cycle, and so the rate of a link of 3.2 GHz at 1.6 GHz, which synthesis supports.
    """
    return elaborate("nic", {"network-bytes": 16} | ({"virtio": 1} if virtio else {}))


class NicUnit:
    """A network interface against the memory model, with software and network played by the caller.

    `unit` gives buffers and time. Registers are written and read as a core would, in simulated time.
    """

    def __init__(
        self,
        parameters: Mapping[str, ParameterValue] | None = None,
        *,
        design: str | Path = "nic",
        placement: str = "near-core",
        skip_idle: bool = True,
        assertions: bool = False,
    ) -> None:
        """Elaborates and compiles it where that has not been done, and resets it.

        `design` may also be the manifest of one with the same registers. `network_bytes` are those that it
        takes from the network in a cycle. With `assertions`, its own are compiled in.
        """
        config = UnitConfig(str(design), parameters or {}, placement=placement)
        self.unit = Unit(config, skip_idle=skip_idle, assertions=assertions)
        self.bench = self.unit.bench
        self.network_bytes = int((parameters or {}).get("network-bytes", FLIT_BYTES))

    def write(self, register: int, value: int) -> None:
        """Writes a register."""
        self.bench.register_write(register, value)

    def read(self, register: int) -> int:
        """Reads a register."""
        return self.bench.register_read(register)

    def send(self, frame: Buffer, checksum: SendChecksum | None = None) -> None:
        """Asks for a frame to be sent; its memory is in use until the completion."""
        if checksum is not None:
            fields = checksum.start | checksum.offset << 16 | checksum.initial << 32
            self.write(Register.SEND_CHECKSUM, fields | 1 << 63)
        self.write(Register.SEND_REQUEST, frame.address | frame.length << 48)

    def receive_into(self, buffer: Buffer) -> None:
        """Gives a buffer for one frame, of at most its length; of `MAX_FRAME_BYTES` when that is 0."""
        self.write(Register.RECEIVE_REQUEST, buffer.address | buffer.length << 48)

    def take_sent(self) -> FrameCompletion | None:
        """The next completion of a frame that was sent, if there is one."""
        return _completion(self.read(Register.SEND_COMPLETION))

    def take_received(self) -> FrameCompletion | None:
        """The next completion of a frame that was received, if there is one."""
        return _completion(self.read(Register.RECEIVE_COMPLETION))

    def waiting(self) -> Waiting:
        """How full the four queues are."""
        word = self.read(Register.COUNTS)
        return Waiting(*(word >> shift & 0xFF for shift in (0, 8, 16, 24)))

    def limit(self, flits: int, period: int, burst: int = 0) -> None:
        """Lets `flits` of 8 bytes leave per `period` of its cycles, and `burst` at once after a pause.

        0 and 0: no limit.
        """
        self.write(Register.RATE, flits | period << 16 | burst << 32)

    def sum_received(self, start: int | None) -> None:
        """Has received frames summed from byte `start` on, or not at all."""
        self.write(Register.RECEIVE_CHECKSUM, 0 if start is None else start | 1 << 63)

    def interrupt_on(self, *, sent: bool, received: bool, packets: int = 0, cycles: int = 0) -> None:
        """Which completions raise the interrupt line: `packets` of them at once, fewer after `cycles`."""
        self.write(Register.MODERATION, packets | cycles << 16)
        self.write(Register.INTERRUPT_ENABLE, int(sent) | int(received) << 1)

    def counters(self) -> dict[str, int]:
        """The counters by name."""
        return {name: self.read(Register.FIRST_COUNTER + 8 * i) for i, name in enumerate(COUNTERS)}


def _completion(word: int) -> FrameCompletion | None:
    if not word >> 63:
        return None
    return FrameCompletion(STATUS_NAMES[word >> 48 & 0x7], word & 0xFFFF, word >> 32 & 0xFFFF)


def internet_sum(data: bytes, initial: int = 0) -> int:
    """The ones' complement sum of 16-bit words, high byte first, as RFC 1071 defines it."""
    total = initial + sum(
        int.from_bytes(data[i : i + 2].ljust(2, b"\0"), "big") for i in range(0, len(data), 2)
    )
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total
