"""`rw bench udp`: rate and latency of the network unit at its ports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import median, quantiles

from rackwright.hardware.clocks import UnitClock, clock_of
from rackwright.hardware.designs import elaborate
from rackwright.unit.internet import HEADER_BYTES, Address, Datagram, NetworkUnit
from rackwright.unit.nic import internet_sum

PARAMETERS = {"streams": 2, "echo": 1}
"""Stream 0 is an echo service in the unit, stream 1 has ports."""

FRAME_BYTES = (64, 1024)
"""Of measured frames, without preamble, check sequence and gap."""

FRAMES = 200
ECHO_PORT, SINK_PORT = 7, 9
_HEADERS = 14 + 20 + 8
_OWN = Address("02:00:00:00:00:01", "10.0.0.1/24")
_PEER = Address("02:00:00:00:00:02", "10.0.0.2/24")


@dataclass(frozen=True)
class UdpRow:
    """A measurement; see docs/json.md. `verified`: every datagram arrived, in order, with its data."""

    test: str
    mode: str
    by: str
    frame_bytes: int
    payload_bytes: int
    per_second: float
    gigabits_per_second: float
    p50_ns: float | None
    p99_ns: float | None
    cycles: float
    clock_hz: int
    clock_source: str
    verified: bool
    digest: str


def measure(frames: int = FRAMES) -> Iterator[UdpRow]:
    """A row for each test and length of frames: receiving, sending, and both in an echo."""
    # The echo connects two queues; the clock is that of the default configuration.
    clock = clock_of(elaborate("network"))
    for frame_bytes in FRAME_BYTES:
        for test in ("receive", "send", "echo"):
            yield _rate(test, frame_bytes, frames, clock)
    yield _latency(frames, clock)


def request(port: int, data: bytes) -> bytes:
    """A frame with a datagram from the peer, without a checksum of UDP."""
    (own_mac, own), (peer_mac, peer) = _OWN.in_packets(), _PEER.in_packets()
    start = bytes.fromhex("4500") + (28 + len(data)).to_bytes(2, "big") + bytes.fromhex("000040004011")
    checksum = 0xFFFF ^ internet_sum(start + peer + own)
    ipv4 = start + checksum.to_bytes(2, "big") + peer + own
    udp = b"".join(number.to_bytes(2, "big") for number in (4000, port, 8 + len(data), 0))
    return own_mac + peer_mac + b"\x08\x00" + ipv4 + udp + data


def _unit() -> NetworkUnit:
    unit = NetworkUnit(_OWN, PARAMETERS)
    for stream, port in enumerate((ECHO_PORT, SINK_PORT)):
        unit.bind(stream, port, stream)
    # The peer sends an ARP request to the unit, so that its address is known.
    (mac, address), (_, own) = _PEER.in_packets(), _OWN.in_packets()
    arp = bytes.fromhex("0001080006040001") + mac + address + bytes(6) + own
    unit.receive(b"\xff" * 6 + mac + b"\x08\x06" + arp)
    unit.work()
    unit.frames()
    return unit


def _data(frame_bytes: int, number: int) -> bytes:
    return number.to_bytes(2, "big").ljust(frame_bytes - _HEADERS, b"x")


def _rate(test: str, frame_bytes: int, frames: int, clock: UnitClock) -> UdpRow:
    """Frames or datagrams back to back, which the unit receives, sends, or echoes."""
    unit = _unit()
    data = [_data(frame_bytes, number) for number in range(frames)]
    for one in data:
        if test == "send":
            unit.send(Datagram("10.0.0.2", 4000, SINK_PORT, one), 1)
        else:
            unit.receive(request(ECHO_PORT if test == "echo" else SINK_PORT, one))
    unit.work()
    out = unit.raw(1) if test == "receive" else unit.frames()
    headers = HEADER_BYTES if test == "receive" else _HEADERS
    verified = [timed.data[headers:] for timed in out] == data
    return _row(test, frame_bytes, [timed.last for timed in out], clock, verified, unit)


def _latency(frames: int, clock: UnitClock) -> UdpRow:
    """Echoes one after the other: from the last flit in to the first flit out."""
    unit, cycles, verified = _unit(), [], True
    frame_bytes = FRAME_BYTES[0]
    for number in range(frames):
        # Frames start at every cycle of a flit's time, independent of earlier frames.
        end = unit.receive(request(ECHO_PORT, _data(frame_bytes, number)), unit.unit.cycle + number % 8)
        unit.work()
        [out] = unit.frames()
        cycles.append(out.first - (end - 1))
        verified &= out.data[_HEADERS:] == _data(frame_bytes, number)
    nanoseconds = [1e9 * count / clock.hertz for count in cycles]
    row = _row("latency", frame_bytes, [0, round(median(cycles))], clock, verified, unit)
    slow = quantiles(nanoseconds, n=100)[98]
    return replace(row, p50_ns=median(nanoseconds), p99_ns=slow)


def _row(
    test: str, frame_bytes: int, ends: list[int], clock: UnitClock, verified: bool, unit: NetworkUnit
) -> UdpRow:
    """A row for frames that completed in these cycles, from the first completion to the last."""
    cycles = (ends[-1] - ends[0]) / (len(ends) - 1) if len(ends) > 1 else float("nan")
    per_second = clock.hertz / cycles
    return UdpRow(
        test=test,
        mode="stream",
        by="unit",
        frame_bytes=frame_bytes,
        payload_bytes=frame_bytes - _HEADERS,
        per_second=per_second,
        gigabits_per_second=per_second * frame_bytes * 8 / 1e9,
        p50_ns=None,
        p99_ns=None,
        cycles=cycles,
        clock_hz=clock.hertz,
        clock_source=clock.source,
        verified=verified,
        digest=unit.unit.digest,
    )
