"""The network interface's virtio front end: checksums both ways, frames in several buffers, coalescing."""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence

import pytest
from tiers import long
from virtio_driver import (
    ALWAYS,
    BUFFERS,
    DATA_VALID,
    FEATURE_CHECKSUM,
    FEATURE_EVENT_INDEX,
    FEATURE_GUEST_CHECKSUM,
    FEATURE_MERGEABLE,
    HEADER,
    INTERRUPT_STATUS,
    LIMIT,
    MODERATION,
    NEEDS_CHECKSUM,
    NEEDS_RESET,
    RECEIVE,
    SEND,
    STATUS,
    WINDOW_FIRST,
    WINDOW_LAST,
    Driver,
)

from rackwright.unit.nic import MAX_FRAME_BYTES, NicUnit

TCP, UDP = 6, 17
IPV4, IPV6 = 0x0800, 0x86DD
BUFFER = 0x1000
"""Bytes from one buffer of received frames to the next one."""


@pytest.fixture(scope="module", params=[8, long(16, why="wide flits have tests without virtio, too")])
def nic(request: pytest.FixtureRequest) -> NicUnit:
    return NicUnit({"virtio": 1, "network-bytes": request.param}, assertions=True)


def started(nic: NicUnit, features: int = 0, size: int = 8) -> Driver:
    driver = Driver(nic, size, features)
    driver.start()
    assert nic.read(STATUS) & NEEDS_RESET == 0
    driver.bench.sent_frames()
    return driver


def settle(driver: Driver) -> None:
    assert driver.nic.unit.work(LIMIT)


def folded(data: bytes | bytearray) -> int:
    """The sum of RFC 1071, not complemented."""
    words = struct.unpack(f">{(len(data) + 1) // 2}H", data + bytes(len(data) % 2))
    total = int(sum(words))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def segment(
    source: random.Random,
    payload: int,
    *,
    kind: int = IPV4,
    protocol: int = TCP,
    padding: int = 0,
    fragment: int = 0,
) -> bytes:
    """An Ethernet frame with a TCP segment of so many bytes whose checksum is right."""
    addresses = source.randbytes(8 if kind == IPV4 else 32)
    tcp = bytearray(source.randbytes(20 + payload))
    tcp[16:18] = bytes(2)
    pseudo = addresses + struct.pack(">II", len(tcp), protocol)
    tcp[16:18] = struct.pack(">H", 0xFFFF ^ folded(pseudo + tcp))
    if kind == IPV4:
        fields = struct.pack(
            ">BBHHHBBH", 0x45, 0, 20 + len(tcp), source.getrandbits(16), fragment, 64, protocol, 0
        )
    else:
        fields = struct.pack(">IHBB", 0x6000_0000, len(tcp), protocol, 64)
    return (
        source.randbytes(12) + struct.pack(">H", kind) + fields + addresses + tcp + source.randbytes(padding)
    )


def receive(driver: Driver, frame: bytes) -> bytes:
    """The header with which a frame comes."""
    ring = driver.rings[RECEIVE]
    place = ring.given % ring.size
    driver.chain(ring, [(BUFFERS, 9700)], place)
    driver.give(ring, place)
    driver.bench.deliver(frame)
    settle(driver)
    assert driver.take(ring) == (place, HEADER + len(frame))
    assert driver.bench.read_memory(BUFFERS + HEADER, len(frame)) == frame
    return driver.bench.read_memory(BUFFERS, HEADER)


def wants(start: int, offset: int, flags: int = NEEDS_CHECKSUM) -> bytes:
    return struct.pack("<BBHHHHH", flags, 0, 0, 0, start, offset, 0)


@pytest.mark.parametrize("parts", [(), (12,), (5,), (1, 1, 1, 40), (13, 8), (12, 54), (20, 7, 30)])
@pytest.mark.parametrize("start", [34, 35, 54])
def test_checksums_are_put_into_frames(nic: NicUnit, parts: Sequence[int], start: int) -> None:
    driver = started(nic, FEATURE_CHECKSUM)
    source = random.Random(start)
    for first, payload in enumerate((1, 2, 700)):
        frame = bytearray(source.randbytes(start + 20 + payload))
        expected = bytearray(frame)
        expected[start + 16 : start + 18] = struct.pack(">H", 0xFFFF ^ folded(frame[start:]))
        driver.send(bytes(frame), parts, first, wants(start, 16))
        settle(driver)
        assert [sent for _, _, sent in driver.bench.sent_frames()] == [bytes(expected)]


def test_frames_with_and_without_checksums_keep_their_order(nic: NicUnit) -> None:
    driver = started(nic, FEATURE_CHECKSUM)
    ring, source, expected = driver.rings[SEND], random.Random(3), []
    for number in range(8):
        frame = source.randbytes(60 + 150 * number)
        header = wants(14, 4, number % 2)
        place = BUFFERS + number * BUFFER
        driver.bench.write_memory(place, header + frame)
        driver.chain(ring, [(place, HEADER + len(frame))], number)
        driver.give(ring, number, notify=number == 7)
        checksum = struct.pack(">H", 0xFFFF ^ folded(frame[14:])) if number % 2 else frame[18:20]
        expected.append(frame[:18] + checksum + frame[20:])
    settle(driver)
    assert [frame for _, _, frame in driver.bench.sent_frames()] == expected


def test_headers_mean_nothing_without_the_feature(nic: NicUnit) -> None:
    driver = started(nic)
    frame = random.Random(4).randbytes(100)
    driver.send(frame, (), 0, wants(14, 0xFFFF))
    settle(driver)
    assert [sent for _, _, sent in driver.bench.sent_frames()] == [frame]


@pytest.mark.parametrize("place", [(100, 0), (98, 1), (0, 99), (0xFFFF, 0xFFFF), (0xFFFF, 1), (99, 0xFFF0)])
def test_checksums_outside_of_frames(nic: NicUnit, place: tuple[int, int]) -> None:
    driver = started(nic, FEATURE_CHECKSUM)
    driver.send(bytes(100), (), 0, wants(*place))
    settle(driver)
    count, rule = driver.fault()
    assert count > 0
    assert rule == "header"
    assert nic.read(STATUS) & NEEDS_RESET
    again = started(nic, FEATURE_CHECKSUM)
    again.send(b"after the reset")
    settle(again)
    assert [sent for _, _, sent in again.bench.sent_frames()] == [b"after the reset"]


@pytest.mark.parametrize("kind", [IPV4, IPV6])
@pytest.mark.parametrize("payload", [0, 1, 5, 6, 7, 100, 1448, 8948])
def test_checksums_of_received_segments_are_checked(nic: NicUnit, kind: int, payload: int) -> None:
    driver = started(nic, FEATURE_GUEST_CHECKSUM)
    source = random.Random(payload)
    frame = segment(source, payload, kind=kind, padding=6 if payload < 10 else 0)
    assert receive(driver, frame) == struct.pack("<B9xH", DATA_VALID, 1)
    tcp = 34 if kind == IPV4 else 54
    for place in (tcp - 8, tcp, source.randrange(tcp, tcp + 20 + payload), tcp + 19 + payload):
        wrong = bytearray(frame)
        wrong[place] ^= 1 << source.randrange(8)
        assert receive(driver, bytes(wrong))[0] == 0


def test_what_is_not_looked_into_is_not_called_right(nic: NicUnit) -> None:
    driver = started(nic, FEATURE_GUEST_CHECKSUM)
    source = random.Random(5)
    right = segment(source, 100)
    longer_header = right[:14] + b"\x46" + right[15:]
    others = [
        right[:-1],
        right[:53],
        right[:30],
        right[:8],
        b"x",
        longer_header,
        segment(source, 100, protocol=UDP),
        segment(source, 100, fragment=0x2000),
        segment(source, 100, fragment=0x0001),
        segment(source, 100, kind=0x0806),
    ]
    for frame in others:
        assert receive(driver, frame)[0] == 0
    assert receive(driver, segment(source, 100, fragment=0x4000))[0] == DATA_VALID
    assert receive(started(nic), right)[0] == 0


def test_checksums_keep_to_their_frames(nic: NicUnit) -> None:
    driver = started(nic, FEATURE_GUEST_CHECKSUM)
    ring, source = driver.rings[RECEIVE], random.Random(6)
    frames = [segment(source, source.randrange(300)) for _ in range(8)]
    for number in (1, 2, 6):
        frames[number] = frames[number][:-1] + bytes([frames[number][-1] ^ 1])
    for number in range(8):
        driver.chain(ring, [(BUFFERS + number * BUFFER, 2000)], number)
        driver.give(ring, number, notify=number == 7)
    at = 0
    for frame in frames:
        at = driver.bench.deliver(frame, at)
    settle(driver)
    flags = [driver.bench.read_memory(BUFFERS + number * BUFFER, 1)[0] for number in range(8)]
    assert flags == [0 if number in (1, 2, 6) else DATA_VALID for number in range(8)]


def offer_buffers(driver: Driver, lengths: Sequence[int]) -> None:
    """Makes a buffer of each length available."""
    ring = driver.rings[RECEIVE]
    for length in lengths:
        place = ring.given % ring.size
        driver.chain(ring, [(BUFFERS + place * BUFFER, length)], place)
        driver.give(ring, place)


def merged(driver: Driver) -> tuple[int, bytes]:
    """The number of buffers that a header names, and the frame out of as many."""
    ring, content, buffers = driver.rings[RECEIVE], b"", 1
    number = 0
    while number < buffers:
        used = driver.take(ring)
        assert used is not None
        content += driver.bench.read_memory(BUFFERS + used[0] * BUFFER, used[1])
        [buffers] = struct.unpack_from("<H", content, 10)
        number += 1
    return buffers, content[HEADER:]


@pytest.mark.parametrize("lengths", [[3000] * 4, [12, 100, 2000, 4000], [13, 1, 7, 8, 9, 3000], [200] * 16])
def test_frames_fill_several_buffers(nic: NicUnit, lengths: Sequence[int]) -> None:
    driver = started(nic, FEATURE_MERGEABLE, size=16)
    source = random.Random(7)
    for room in (1, sum(lengths[:2]), sum(lengths[:2]) + 1, sum(lengths)):
        offer_buffers(driver, lengths)
        frame = source.randbytes(min(max(room - HEADER, 1), MAX_FRAME_BYTES))
        driver.bench.deliver(frame)
        settle(driver)
        needed = next(n for n in range(1, 17) if sum(lengths[:n]) >= HEADER + len(frame))
        assert merged(driver) == (needed, frame)
        assert driver.take(driver.rings[RECEIVE]) is None
        driver.start()


def test_a_frame_waits_until_it_has_all_its_buffers(nic: NicUnit) -> None:
    driver = started(nic, FEATURE_MERGEABLE)
    frame = random.Random(8).randbytes(2500)
    offer_buffers(driver, [1000, 1000])
    driver.bench.deliver(frame)
    settle(driver)
    assert driver.take(driver.rings[RECEIVE]) is None
    offer_buffers(driver, [1000])
    settle(driver)
    assert merged(driver) == (3, frame)
    assert driver.nic.read(INTERRUPT_STATUS) == 1


def test_frames_that_sixteen_buffers_have_no_room_for_are_dropped(nic: NicUnit) -> None:
    driver = started(nic, FEATURE_MERGEABLE, size=16)
    offer_buffers(driver, [100] * 16)
    before = driver.bench.events()["virtio_dropped"]
    at = driver.bench.deliver(bytes(1601 - HEADER))
    driver.bench.deliver(bytes(range(250)), at)
    settle(driver)
    assert driver.bench.events()["virtio_dropped"] == before + 1
    assert merged(driver) == (3, bytes(range(250)))


def test_an_impossible_buffer_behind_a_good_one(nic: NicUnit) -> None:
    driver = started(nic, FEATURE_MERGEABLE)
    nic.write(WINDOW_FIRST, BUFFERS)
    nic.write(WINDOW_LAST, BUFFERS + 0xF_FFFF)
    ring = driver.rings[RECEIVE]
    offer_buffers(driver, [100])
    driver.chain(ring, [(0, 4000)], 1)
    driver.give(ring, 1)
    driver.bench.write_memory(BUFFERS, b"\xa5" * 100)
    driver.bench.deliver(bytes(1000))
    settle(driver)
    assert driver.fault()[1] == "address"
    assert nic.read(STATUS) & NEEDS_RESET
    assert nic.unit.violations == 0
    assert driver.take(ring) is None
    assert driver.bench.read_memory(BUFFERS, 100) == b"\xa5" * 100
    again = started(nic, FEATURE_MERGEABLE)
    offer_buffers(again, [2000])
    settle(again)
    assert merged(again) == (1, bytes(1000))


def test_event_indices_of_frames_in_several_buffers(nic: NicUnit) -> None:
    for asked, tells in ((0, False), (1, True), (3, True), (4, False)):
        driver = started(nic, FEATURE_MERGEABLE | FEATURE_EVENT_INDEX)
        ring = driver.rings[RECEIVE]
        offer_buffers(driver, [500] * 4)
        driver.bench.write_memory(ring.available + 4 + 2 * ring.size, struct.pack("<H", 0xFFFF))
        driver.bench.deliver(bytes(100))
        settle(driver)
        assert nic.read(INTERRUPT_STATUS) == 0
        driver.bench.write_memory(ring.available + 4 + 2 * ring.size, struct.pack("<H", asked))
        driver.bench.deliver(bytes(1300))
        settle(driver)
        assert nic.read(INTERRUPT_STATUS) == tells


def test_a_driver_that_is_told_of_everything(nic: NicUnit) -> None:
    nic.write(MODERATION[SEND], ALWAYS)
    driver = started(nic)
    driver.bench.write_memory(driver.rings[SEND].available, struct.pack("<H", 1))
    driver.send(bytes(60))
    settle(driver)
    assert nic.read(INTERRUPT_STATUS) == 1
    assert nic.read(MODERATION[SEND]) == ALWAYS
    nic.write(MODERATION[SEND], 0)


def test_a_driver_that_is_told_of_several_frames_at_once(nic: NicUnit) -> None:
    nic.write(MODERATION[SEND], 3 | 20_000 << 16)
    driver = started(nic)
    before = driver.bench.events()["virtio_interrupts"]
    for number in range(6):
        driver.send(bytes(60), (), number)
        driver.bench.run(1000)
        assert nic.read(INTERRUPT_STATUS) == (number % 3 == 2)
    driver.send(bytes(60), (), 6)
    driver.bench.run(10_000)
    assert nic.read(INTERRUPT_STATUS) == 0
    driver.bench.run(20_000)
    assert nic.read(INTERRUPT_STATUS) == 1
    settle(driver)
    assert driver.bench.events()["virtio_interrupts"] == before + 3
    nic.write(MODERATION[SEND], 0)


def test_the_fill_of_the_ring_is_counted(nic: NicUnit) -> None:
    driver = started(nic)
    settle(driver)

    def ring_events() -> dict[str, int]:
        return {name: count for name, count in driver.bench.events().items() if name.startswith("send_ring_")}

    before = ring_events()
    driver.bench.run(500)
    empty = ring_events()
    assert empty["send_ring_0"] - before["send_ring_0"] == sum(empty.values()) - sum(before.values()) == 500
    ring = driver.rings[SEND]
    for number in range(6):
        driver.chain(ring, [(BUFFERS, 1000)], number)
        driver.give(ring, number, notify=number == 5)
    settle(driver)
    after = {name: count - empty[name] for name, count in ring_events().items()}
    assert all(after[name] > 0 for name in ("send_ring_1", "send_ring_2_3", "send_ring_4_7"))
    assert after["send_ring_8_15"] == 0
