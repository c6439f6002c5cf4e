"""The network unit alone: its registers, frames on its network and datagrams in its streams.

The register map and the header of a datagram are in hardware/src/main/scala/rackwright/internet/README.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from ipaddress import IPv4Address, IPv4Interface

from rackwright.designs import ParameterValue
from rackwright.errors import RackwrightError
from rackwright.unit import Unit
from rackwright.unit_config import UnitConfig

HEADER_BYTES = 16
"""Of a datagram in a stream."""

ENDINGS = (
    "delivered",
    "echoed",
    "arp",
    "dropped_short",
    "dropped_mac",
    "dropped_vlan",
    "dropped_ethertype",
    "dropped_arp",
    "dropped_header",
    "dropped_length",
    "dropped_checksum",
    "dropped_fragment",
    "dropped_source",
    "dropped_destination",
    "dropped_protocol",
    "dropped_icmp",
    "dropped_icmp_checksum",
    "dropped_udp_length",
    "dropped_udp_checksum",
    "dropped_port",
    "dropped_full",
)
"""What becomes of received frames: each is counted as one of these."""

COUNTERS = (
    "received_frames",
    *ENDINGS,
    "sent_frames",
    "sent_datagrams",
    "refused_length",
    "refused_route",
    "refused_waiting",
    "unresolved",
    "arp_queries",
    "arp_replies",
    "arp_replies_lost",
)
"""Names of the counters in the order of their registers."""


class Register(IntEnum):
    """Byte offsets of the registers."""

    MAC = 0x00
    ADDRESS = 0x08
    MASK = 0x10
    GATEWAY = 0x18
    VLAN = 0x20
    INTERVAL = 0x28
    FLUSH = 0x30
    FIRST_BINDING = 0x80
    FIRST_COUNTER = 0x100


@dataclass(frozen=True)
class Address:
    """Who a station is: `interface` is its address and network (10.0.0.2/24).

    `gateway` leads to all other networks; `vlan` is the number of the own one, if frames have a tag.
    """

    mac: str
    interface: str
    gateway: str | None = None
    vlan: int | None = None

    def registers(self) -> dict[int, int]:
        """What the registers are set to. Raises `RackwrightError` for what is no address."""
        try:
            interface = IPv4Interface(self.interface)
            gateway = int(IPv4Address(self.gateway)) if self.gateway else 0
            mac = int.from_bytes(bytes.fromhex(self.mac.replace(":", "")), "big")
        except ValueError as error:
            raise RackwrightError(f"the address of a network unit: {error}") from None
        return {
            Register.MAC: mac,
            Register.ADDRESS: int(interface.ip),
            Register.MASK: int(interface.netmask),
            Register.GATEWAY: gateway,
            Register.VLAN: 0 if self.vlan is None else self.vlan | 1 << 63,
        }


@dataclass(frozen=True)
class Datagram:
    """Data of UDP: whom it is from or goes to, and the own port. `own` is the own address that it came to."""

    peer: str
    peer_port: int
    own_port: int
    data: bytes
    own: str = "0.0.0.0"

    def to_bytes(self) -> bytes:
        """As it is in a stream: the header, then the data."""
        ports = self.peer_port.to_bytes(2, "big") + self.own_port.to_bytes(2, "big")
        length = len(self.data).to_bytes(2, "big")
        peer, own = (IPv4Address(address).packed for address in (self.peer, self.own))
        return peer + ports + own + length + b"\0\0" + self.data

    @staticmethod
    def from_bytes(raw: bytes) -> Datagram:
        """Reads what is in a stream; raises `RackwrightError` when that is no datagram."""
        if len(raw) < HEADER_BYTES or len(raw) != HEADER_BYTES + int.from_bytes(raw[12:14], "big"):
            raise RackwrightError(f"{len(raw)} bytes of a stream are no datagram")
        peer_port, own_port = (int.from_bytes(raw[at : at + 2], "big") for at in (4, 6))
        peer, own = (str(IPv4Address(raw[at : at + 4])) for at in (0, 8))
        return Datagram(peer, peer_port, own_port, raw[HEADER_BYTES:], own)


@dataclass(frozen=True)
class Timed:
    """What left the unit: cycles of the first and the last flit, and the bytes."""

    first: int
    last: int
    data: bytes


class NetworkUnit:
    """The network unit, with its network and whoever is behind its streams played by the caller.

    What leaves is kept by port (`taken`). Registers are written and read in simulated time.
    """

    def __init__(
        self,
        address: Address,
        parameters: Mapping[str, ParameterValue] | None = None,
        *,
        skip_idle: bool = True,
        assertions: bool = False,
    ) -> None:
        """Elaborates and compiles it where that has not been done, resets it, and gives it an address."""
        config = UnitConfig("network", parameters or {})
        self.unit = Unit(config, skip_idle=skip_idle, assertions=assertions)
        self.bench = self.unit.bench
        self._sent: dict[str, list[Timed]] = {}
        self._free: dict[str, int] = {}
        for register, value in address.registers().items():
            self.bench.register_write(register, value)

    def bind(self, entry: int, port: int, stream: int) -> None:
        """Has entry number `entry` of the table give the datagrams to `port` to a stream."""
        self.bench.register_write(Register.FIRST_BINDING + 8 * entry, port | stream << 16 | 1 << 63)

    def unbind(self, entry: int) -> None:
        """Clears an entry of the table."""
        self.bench.register_write(Register.FIRST_BINDING + 8 * entry, 0)

    def set_interval(self, cycles: int) -> None:
        """Cycles between two queries of ARP for the same address."""
        self.bench.register_write(Register.INTERVAL, cycles)

    def flush(self) -> None:
        """Forgets what ARP has learnt."""
        self.bench.register_write(Register.FLUSH, 0)

    def receive(self, frame: bytes, at: int = 0) -> int:
        """Has a frame arrive from the network, at `at`, now, or behind the one before.

        Gives the cycle after its last flit.
        """
        return self._deliver("network_in", frame, at)

    def send(self, datagram: Datagram | bytes, stream: int = 0, at: int = 0) -> int:
        """The same of a datagram, or of bytes that may be none, at a stream."""
        raw = datagram if isinstance(datagram, bytes) else datagram.to_bytes()
        return self._deliver(f"stream_in_{stream}", raw, at)

    def work(self, max_cycles: int = 1_000_000) -> bool:
        """Runs until nothing is left to do, or so many cycles; tells whether nothing is."""
        return self.unit.work(max_cycles)

    def frames(self) -> list[Timed]:
        """Frames that left for the network since the last call."""
        return self._take("network_out")

    def datagrams(self, stream: int = 0) -> list[Datagram]:
        """Datagrams that left through a stream since the last call."""
        return [Datagram.from_bytes(timed.data) for timed in self.raw(stream)]

    def raw(self, stream: int = 0) -> list[Timed]:
        """The same as they are in the stream, with their times."""
        return self._take(f"stream_out_{stream}")

    def counters(self) -> dict[str, int]:
        """The counters by name."""
        return {
            name: self.bench.register_read(Register.FIRST_COUNTER + 8 * i) for i, name in enumerate(COUNTERS)
        }

    def _deliver(self, port: str, data: bytes, at: int) -> int:
        self._free[port] = self.bench.deliver(data, max(at, self._free.get(port, 0)), 1, port)
        return self._free[port]

    def _take(self, port: str) -> list[Timed]:
        for name, first, last, data in self.bench.frames_by_port():
            self._sent.setdefault(name, []).append(Timed(first, last, data))
        return self._sent.pop(port, [])
