"""Frames for and from the network unit, made and read by scapy."""

from __future__ import annotations

from typing import Any

from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Packet, Raw

from rackwright.unit.internet import Address, NetworkUnit

OWN = Address(mac="02:00:00:00:00:01", interface="10.0.0.1/24", gateway="10.0.0.254")
"""The unit."""

MAC, IP_ADDRESS = OWN.mac, "10.0.0.1"
PEER_MAC, PEER = "02:00:00:00:00:02", "10.0.0.2"
PORTS = {0: 7, 1: 9000}
"""The port of UDP that is bound to each stream."""

PATIENCE = 5000
"""Cycles for which fragments are waited for; a minute would be simulated cycle by cycle."""


def network_unit(**options: Any) -> NetworkUnit:
    """A unit with an address and both streams bound, its own assertions compiled in."""
    unit = NetworkUnit(OWN, assertions=True, **options)
    for stream, port in PORTS.items():
        unit.bind(stream, port, stream)
    unit.set_reassembly(PATIENCE)
    return unit


def frame(**fields: Any) -> Ether:
    """The Ethernet header of a frame from the peer."""
    return Ether(**{"dst": MAC, "src": PEER_MAC} | fields)


def packet(**fields: Any) -> IP:
    """The Internet header of a packet from the peer."""
    return IP(**{"dst": IP_ADDRESS, "src": PEER} | fields)


def datagram(data: bytes = b"data", port: int = PORTS[0], **fields: Any) -> Packet:
    """A datagram from the peer's port 4000, without the headers before."""
    return UDP(**{"sport": 4000, "dport": port} | fields) / Raw(data)


def question(target: str = IP_ADDRESS, sender: str = PEER, mac: str = PEER_MAC) -> Packet:
    """Somebody asks for an address."""
    return Ether(dst="ff:ff:ff:ff:ff:ff", src=mac) / ARP(op=1, hwsrc=mac, psrc=sender, pdst=target)


def answer(sender: str = PEER, mac: str = PEER_MAC) -> Packet:
    """Somebody answers the unit."""
    return Ether(dst=MAC, src=mac) / ARP(op=2, hwsrc=mac, psrc=sender, hwdst=MAC, pdst=IP_ADDRESS)


def ping(data: bytes = b"x" * 56, **fields: Any) -> Packet:
    """An echo request, without the headers before."""
    return ICMP(**{"type": 8, "id": 77, "seq": 3} | fields) / Raw(data)


def give(unit: NetworkUnit, *frames: Packet | bytes) -> list[Packet]:
    """Has frames arrive back to back; what leaves until the unit has nothing to do."""
    for one in frames:
        unit.receive(bytes(one))
    assert unit.work()
    return sent(unit)


def sent(unit: NetworkUnit) -> list[Packet]:
    """Frames that have left; scapy makes each anew from its fields, with its own checksums and lengths."""
    frames: list[Packet] = []
    for timed in unit.frames():
        read = Ether(timed.data)
        assert bytes(anew(read)) == timed.data, f"scapy would send {anew(read)!r}, not {read!r}"
        frames.append(read)
    return frames


def anew(read: Packet) -> Packet:
    """The packet with lengths and checksums made by scapy."""
    made = read.copy()
    for layer, fields in ((IP, ("len", "chksum")), (UDP, ("len", "chksum")), (ICMP, ("chksum",))):
        if layer in made:
            for field in fields:
                delattr(made[layer], field)
    return made
