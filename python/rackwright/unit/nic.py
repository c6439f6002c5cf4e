"""The network interface alone: its registers, frames that it sends and frames that reach it.

Its contract is hardware/src/main/scala/rackwright/nic/README.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from rackwright.hardware.designs import ParameterValue, elaborate
from rackwright.hardware.registers import register_map
from rackwright.unit.alone import Buffer, Unit
from rackwright.unit.commands import STATUS_NAMES
from rackwright.unit.config import UnitConfig

MAX_FRAME_BYTES = 9600
FLIT_BYTES = 8

REGISTERS = register_map("nic")
"""Its registers by name."""


@dataclass(frozen=True)
class SendChecksum:
    """A checksum to insert into a frame: of the bytes from `start` to the end, stored at byte `offset`.

    `initial` is the initial value of the sum: that of a pseudo header.
    """

    start: int
    offset: int
    initial: int = 0


@dataclass(frozen=True)
class FrameCompletion:
    """The result of a frame: `length` of the frame; `sum`, if enabled, of a received one."""

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

    `unit` allocates buffers and advances time. Registers are written and read as a core would, in simulated
    time.
    """

    def __init__(
        self,
        parameters: Mapping[str, ParameterValue] | None = None,
        *,
        design: str | Path = "nic",
        placement: str = "near-core",
        skip_idle: bool = True,
        assertions: bool = False,
        waves: Path | None = None,
    ) -> None:
        """Elaborates and compiles the unit if necessary, and resets it.

        `design` may also be the manifest of one with the same registers. `network_bytes` is the number of
        network bytes per cycle. With `assertions`, its own are compiled in; with `waves`, its signals are
        recorded there.
        """
        config = UnitConfig(str(design), parameters or {}, placement=placement)
        self.unit = Unit(config, skip_idle=skip_idle, assertions=assertions, waves=waves)
        self.bench = self.unit.bench
        self.network_bytes = int((parameters or {}).get("network-bytes", FLIT_BYTES))

    def write(self, register: str | int, value: int) -> None:
        """Writes the register with that name, or at that offset."""
        self.bench.register_write(_offset(register), value)

    def write_fields(self, register: str, **fields: int) -> None:
        """The same with a word composed of fields."""
        self.write(register, REGISTERS[register].word(**fields))

    def read(self, register: str | int) -> int:
        """Reads the register with that name, or at that offset."""
        return self.bench.register_read(_offset(register))

    def send(self, frame: Buffer, checksum: SendChecksum | None = None) -> None:
        """Requests sending a frame; its memory is in use until the completion."""
        if checksum is not None:
            self.write_fields("send_checksum", enable=1, **asdict(checksum))
        self.write_fields("send_request", address=frame.address, length=frame.length)

    def receive_into(self, buffer: Buffer) -> None:
        """Supplies a buffer for one frame with this maximum length; 0 stands for `MAX_FRAME_BYTES`."""
        self.write_fields("receive_request", address=buffer.address, capacity=buffer.length)

    def take_sent(self) -> FrameCompletion | None:
        """The next completion of a sent frame, if there is one."""
        return self._take("send_completion")

    def take_received(self) -> FrameCompletion | None:
        """The next completion of a received frame, if there is one."""
        return self._take("receive_completion")

    def waiting(self) -> Waiting:
        """The fill levels of the four queues."""
        word = self.read("counts")
        return Waiting(**{field.name: field.of(word) for field in REGISTERS["counts"].fields})

    def limit(self, flits: int, period: int, burst: int = 0) -> None:
        """Lets `flits` of 8 bytes leave per `period` of its cycles, and `burst` at once after a pause.

        0 and 0: no limit.
        """
        self.write_fields("rate", flits=flits, period=period, burst=burst)

    def sum_received(self, start: int | None) -> None:
        """Has received frames summed from byte `start` on, or not at all."""
        self.write_fields("receive_checksum", start=start or 0, enable=int(start is not None))

    def interrupt_on(self, *, sent: bool, received: bool, packets: int = 0, cycles: int = 0) -> None:
        """Which completions raise the interrupt line: `packets` of them at once, fewer after `cycles`."""
        self.write_fields("moderation", packets=packets, time=cycles)
        self.write_fields("interrupt_enable", sent=int(sent), received=int(received))

    def counters(self) -> dict[str, int]:
        """The counters by name."""
        return {register.name: self.read(register.name) for register in REGISTERS.counters}

    def _take(self, register: str) -> FrameCompletion | None:
        word = self.read(register)
        found = {field.name: field.of(word) for field in REGISTERS[register].fields}
        if not found["valid"]:
            return None
        return FrameCompletion(STATUS_NAMES[found["status"]], found["length"], found["sum"])


def _offset(register: str | int) -> int:
    return REGISTERS[register].offset if isinstance(register, str) else register


def internet_sum(data: bytes, initial: int = 0) -> int:
    """The ones' complement sum of 16-bit words, high byte first, as RFC 1071 defines it."""
    total = initial + sum(
        int.from_bytes(data[i : i + 2].ljust(2, b"\0"), "big") for i in range(0, len(data), 2)
    )
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total
