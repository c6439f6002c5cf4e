"""Linux on this host as the peer of the network unit: run in a network namespace, it prints what it found.

A TAP device of the namespace is the unit's network. A thread uses sockets as any program does; the main
thread carries frames between the device and the unit, and serves port 7 in capital letters.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import select
import socket
import struct
import subprocess
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from internet_frames import IP_ADDRESS, MAC, PEER, PEER_MAC, PORTS, network_unit
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from rackwright.unit.internet import NetworkUnit
from rackwright.unit.nic import internet_sum

_DEVICE = "rwnet0"
_TUNSETIFF, _IFF_TAP, _IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
_PATIENCE_SECONDS = 60

SECOND, GROUP = "10.0.0.9", "239.129.2.3"
UNBOUND = 8
UNIT_LACKS, LINUX_LACKS = 253, 254
"""Protocols for experiments (RFC 3692), each of which one of the two is asked for."""
UNKNOWN = b"a protocol of nobody"
PINGS = (0, 1, 56, 1000, 1472, 1473, 4000, 8972)
DATAGRAMS = (0, 1, 7, 64, 1000, 1472)
"""Bytes of data; more than 1472 are in fragments, both ways."""


def tap() -> int:
    """The device, with the peer's addresses."""
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH22x", _DEVICE.encode(), _IFF_TAP | _IFF_NO_PI))
    for words in (
        f"addr add {PEER}/24 dev {_DEVICE}",
        f"link set {_DEVICE} address {PEER_MAC} up",
        f"route add {GROUP} dev {_DEVICE}",
    ):
        subprocess.run(["ip", *words.split()], check=True)
    return device


def client() -> dict[str, Any]:
    """Pings, and datagrams whose answers are compared."""
    found: dict[str, Any] = {"pings": [], "datagrams": []}
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as raw:
        raw.settimeout(_PATIENCE_SECONDS)
        for length in PINGS:
            data = bytes(number % 256 for number in range(length))
            plain = struct.pack(">BBHHH", 8, 0, 0, 7, length) + data
            checksum = 0xFFFF ^ internet_sum(plain)
            raw.sendto(plain[:2] + checksum.to_bytes(2, "big") + plain[4:], (IP_ADDRESS, 0))
            reply, (sender, _) = raw.recvfrom(10_000)
            found["pings"].append(
                sender == IP_ADDRESS and reply[20:22] == b"\0\0" and reply[24:] == plain[4:]
            )
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plain_socket:
        plain_socket.settimeout(_PATIENCE_SECONDS)
        plain_socket.connect((IP_ADDRESS, PORTS[0]))
        for length in DATAGRAMS:
            text = b"a word " * 300
            plain_socket.send(text[:length])
            found["datagrams"].append(plain_socket.recv(2000) == text[:length].upper())
        plain_socket.send(bytes(8000))
        found["long"] = plain_socket.recv(2000).decode()
    found["others"] = [answered_by(address) for address in (SECOND, GROUP)]
    found["refused"] = is_refused()
    found["protocol"] = protocol_error()
    return found


def answered_by(address: str) -> str:
    """Who answers a datagram to an address."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plain_socket:
        plain_socket.settimeout(_PATIENCE_SECONDS)
        plain_socket.sendto(b"who", (address, PORTS[0]))
        answer, (sender, _) = plain_socket.recvfrom(2000)
        return str(sender) if answer == b"WHO" else f"{answer!r} by {sender}"


def is_refused() -> bool:
    """Whether a program learns that nobody listens at a port."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plain_socket:
        plain_socket.settimeout(_PATIENCE_SECONDS)
        plain_socket.connect((IP_ADDRESS, UNBOUND))
        plain_socket.send(b"anybody?")
        try:
            plain_socket.recv(2000)
        except ConnectionRefusedError:
            return True
    return False


def protocol_error() -> str:
    """What a program learns that speaks a protocol which the unit does not have."""
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, UNIT_LACKS) as raw:
        raw.settimeout(_PATIENCE_SECONDS)
        raw.connect((IP_ADDRESS, 0))
        raw.send(UNKNOWN)
        try:
            raw.recv(2000)
        except OSError as error:
            return errno.errorcode.get(error.errno or 0, str(error))
    return "nothing"


def ask_linux(device: int) -> None:
    """Linux receives a packet of a protocol that it does not have."""
    packet = Ether(src=MAC, dst=PEER_MAC) / IP(src=IP_ADDRESS, dst=PEER, proto=LINUX_LACKS) / Raw(UNKNOWN)
    os.write(device, bytes(packet))


def refusals(frames: list[bytes]) -> list[list[Any]]:
    """Of ICMP errors: type, code, protocol and eight bytes of the packet that they are about."""
    found = []
    for message in (one[ICMP] for one in map(Ether, frames) if ICMP in one and one[ICMP].type == 3):
        about = bytes(message.payload)
        found.append([message.type, message.code, about[9], about[20:28].decode("latin-1")])
    return found


def carry(unit: NetworkUnit, device: int, ends: Future[dict[str, Any]]) -> tuple[list[bytes], list[bytes]]:
    """Carries frames until the client has ended; returns those of Linux and of the unit."""
    of_linux, of_unit = [], []
    while not ends.done():
        if select.select([device], [], [], 0.05)[0]:
            of_linux.append(os.read(device, 10_000))
            unit.receive(of_linux[-1])
        unit.work(50_000)
        for request in unit.datagrams(0):
            data = request.data.upper() if len(request.data) <= 1472 else str(len(request.data)).encode()
            unit.send(replace(request, data=data))
        unit.work(50_000)
        for frame in unit.frames():
            of_unit.append(frame.data)
            os.write(device, frame.data)
    return of_linux, of_unit


def errors() -> dict[str, int]:
    """What Linux counts as wrong: of all protocols, by protocol and name."""
    lines = [line.split() for line in Path("/proc/net/snmp").read_text(encoding="ascii").splitlines()]
    counters = {
        f"{names[0]}{name}": int(value)
        for names, values in zip(lines[::2], lines[1::2], strict=True)
        for name, value in zip(names[1:], values[1:], strict=True)
    }
    return {name: value for name, value in counters.items() if "InErrors" in name or "InCsumErrors" in name}


def main() -> None:
    """Prints what was found as JSON."""
    device = tap()
    unit = network_unit()
    unit.set_interval(100_000)
    # Fragments come one by one, and the unit is simulated for less than that between two of them.
    unit.set_reassembly(10_000_000)
    unit.add_address(0, SECOND)
    unit.join(0, GROUP)
    with ThreadPoolExecutor(1) as pool:
        ask_linux(device)
        ends = pool.submit(client)
        of_linux, of_unit = map(refusals, carry(unit, device, ends))
    found = {"errors": errors(), "counters": unit.counters(), "of_linux": of_linux, "of_unit": of_unit}
    print(json.dumps(ends.result() | found))


if __name__ == "__main__":
    main()
