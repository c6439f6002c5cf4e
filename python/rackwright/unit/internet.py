"""The network unit alone: its registers, frames on its network and datagrams in its streams.

Its contract page, hardware/src/main/scala/rackwright/internet/README.md, has the header of a datagram.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface

from rackwright.errors import RackwrightError
from rackwright.hardware.designs import ParameterValue
from rackwright.hardware.registers import register_map
from rackwright.unit.alone import Unit
from rackwright.unit.config import UnitConfig

HEADER_BYTES = 16
"""Of a datagram in a stream."""

REGISTERS = register_map("internet")

COUNTERS = tuple(register.name for register in REGISTERS.counters)
"""Names of the counters in the order of their registers."""

ENDINGS = COUNTERS[COUNTERS.index("delivered") : COUNTERS.index("sent_frames")]
"""The outcomes of received frames; each frame is counted as one of these."""


@dataclass(frozen=True)
class Address:
    """The addresses of a station: `interface` is its address and network (10.0.0.2/24).

    `gateway` leads to all other networks; `vlan` is the number of the own one, if frames have a tag.
    """

    mac: str
    interface: str
    gateway: str | None = None
    vlan: int | None = None

    def in_packets(self) -> tuple[bytes, bytes]:
        """The MAC address and the Internet address, as packets have them.

        Raises `RackwrightError` for an invalid address.
        """
        with _no_address():
            return bytes.fromhex(self.mac.replace(":", "")), IPv4Interface(self.interface).ip.packed

    def registers(self) -> dict[str, int]:
        """The values of the registers, by name. Raises `RackwrightError` for an invalid address."""
        mac, address = self.in_packets()
        with _no_address():
            mask = IPv4Interface(self.interface).netmask
            gateway = int(IPv4Address(self.gateway)) if self.gateway else 0
        tag = {} if self.vlan is None else {"number": self.vlan, "present": 1}
        return {
            "mac": int.from_bytes(mac, "big"),
            "address": int.from_bytes(address, "big"),
            "mask": int(mask),
            "gateway": gateway,
            "vlan": REGISTERS["vlan"].word(**tag),
        }


@contextmanager
def _no_address() -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise RackwrightError(f"the address of a network unit: {error}") from None


@dataclass(frozen=True)
class Datagram:
    """UDP data with the peer's address and port, and the own port.

    `own` is the own address to which it was sent, or from which it is sent, if it is one of several.
    """

    peer: str
    peer_port: int
    own_port: int
    data: bytes
    own: str = "0.0.0.0"

    def to_bytes(self) -> bytes:
        """Its format in a stream: the header, then the data."""
        ports = self.peer_port.to_bytes(2, "big") + self.own_port.to_bytes(2, "big")
        length = len(self.data).to_bytes(2, "big")
        peer, own = (IPv4Address(address).packed for address in (self.peer, self.own))
        return peer + ports + own + length + b"\0\0" + self.data

    @staticmethod
    def from_bytes(raw: bytes) -> Datagram:
        """Decodes data from a stream; raises `RackwrightError` if they are not a datagram."""
        if len(raw) < HEADER_BYTES or len(raw) != HEADER_BYTES + int.from_bytes(raw[12:14], "big"):
            raise RackwrightError(f"{len(raw)} bytes of a stream are no datagram")
        peer_port, own_port = (int.from_bytes(raw[at : at + 2], "big") for at in (4, 6))
        peer, own = (str(IPv4Address(raw[at : at + 4])) for at in (0, 8))
        return Datagram(peer, peer_port, own_port, raw[HEADER_BYTES:], own)


@dataclass(frozen=True)
class Timed:
    """A frame that left the unit: cycles of the first and the last flit, and the bytes."""

    first: int
    last: int
    data: bytes


class NetworkUnit:
    """The network unit; the caller plays its network and the peers behind its streams.

    Output is stored by port (`taken`). Registers are written and read in simulated time.
    """

    def __init__(
        self,
        address: Address,
        parameters: Mapping[str, ParameterValue] | None = None,
        *,
        skip_idle: bool = True,
        assertions: bool = False,
    ) -> None:
        """Elaborates and compiles the unit if necessary, resets it, and assigns an address."""
        config = UnitConfig("network", parameters or {})
        self.unit = Unit(config, skip_idle=skip_idle, assertions=assertions)
        self.bench = self.unit.bench
        self._sent: dict[str, list[Timed]] = {}
        self._free: dict[str, int] = {}
        for register, value in address.registers().items():
            self._write(register, value)

    def bind(self, entry: int, port: int, stream: int) -> None:
        """Has entry number `entry` of the table give the datagrams to `port` to a stream."""
        bindings = REGISTERS["bindings"]
        word = bindings.word(port=port, stream=stream, present=1)
        self.bench.register_write(bindings.at(entry), word)

    def unbind(self, entry: int) -> None:
        """Clears an entry of the table."""
        self.bench.register_write(REGISTERS["bindings"].at(entry), 0)

    def set_interval(self, cycles: int) -> None:
        """Cycles between two queries of ARP for the same address."""
        self._write("interval", cycles)

    def set_reassembly(self, cycles: int) -> None:
        """Sets after how many cycles a datagram of which fragments lack is given up."""
        self._write("reassembly", cycles)

    def set_unreachable(self, cycles: int) -> None:
        """Cycles between two messages that a port or a protocol is unreachable; 0: none is sent."""
        self._write("unreachable", cycles)

    def set_limit(self, cycles: int, at_once: int = 1) -> None:
        """Limits each sender to a packet in so many cycles, of which so many may come at once; 0: no limit.

        Raises `RackwrightError` for numbers that the register has no place for.
        """
        if cycles < 0 or at_once < 1 or max(cycles, (at_once - 1) * cycles) >> 32:
            raise RackwrightError(
                f"the limit of a sender: not {at_once} packets at once, {cycles} cycles each"
            )
        self._write("limit", REGISTERS["limit"].word(cycles=cycles, allowance=(at_once - 1) * cycles))

    def add_address(self, entry: int, address: str) -> None:
        """Gives the unit another address."""
        self.bench.register_write(REGISTERS["addresses"].at(entry), int(IPv4Address(address)))

    def join(self, entry: int, group: str) -> None:
        """Has the unit receive datagrams to a group; 0.0.0.0 leaves that of the entry."""
        self.bench.register_write(REGISTERS["groups"].at(entry), int(IPv4Address(group)))

    def flush(self) -> None:
        """Clears the ARP cache."""
        self._write("flush", 0)

    def receive(self, frame: bytes, at: int = 0) -> int:
        """Sends a frame from the network to the unit, at `at`, now, or after the previous one.

        Returns the cycle after its last flit.
        """
        return self._deliver("network_in", frame, at)

    def send(self, datagram: Datagram | bytes, stream: int = 0, at: int = 0) -> int:
        """The same of a datagram, or of bytes that may be none, at a stream."""
        raw = datagram if isinstance(datagram, bytes) else datagram.to_bytes()
        return self._deliver(f"stream_in_{stream}", raw, at)

    def work(self, max_cycles: int = 1_000_000) -> bool:
        """Runs until the unit is idle, or for this number of cycles; returns whether it is idle."""
        return self.unit.work(max_cycles)

    def frames(self) -> list[Timed]:
        """Frames that left for the network since the last call."""
        return self._take("network_out")

    def datagrams(self, stream: int = 0) -> list[Datagram]:
        """Datagrams that left through a stream since the last call."""
        return [Datagram.from_bytes(timed.data) for timed in self.raw(stream)]

    def raw(self, stream: int = 0) -> list[Timed]:
        """The same in the format of the stream, with their times."""
        return self._take(f"stream_out_{stream}")

    def counters(self) -> dict[str, int]:
        """The counters by name."""
        return {register.name: self.bench.register_read(register.offset) for register in REGISTERS.counters}

    def _write(self, register: str, value: int) -> None:
        self.bench.register_write(REGISTERS[register].offset, value)

    def _deliver(self, port: str, data: bytes, at: int) -> int:
        self._free[port] = self.bench.deliver(data, max(at, self._free.get(port, 0)), 1, port)
        return self._free[port]

    def _take(self, port: str) -> list[Timed]:
        for name, first, last, data in self.bench.frames_by_port():
            self._sent.setdefault(name, []).append(Timed(first, last, data))
        return self._sent.pop(port, [])
