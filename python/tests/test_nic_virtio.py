"""The network interface's virtio front end: the rules of virtio 1.2, and drivers that break them."""

from __future__ import annotations

import random
import struct

import pytest
from tiers import long
from virtio_driver import (
    BASE,
    BUFFERS,
    CONFIGURATION,
    DEVICE_FEATURE,
    DEVICE_FEATURE_SELECT,
    FEATURE_CHECKSUM,
    FEATURE_EVENT_INDEX,
    FEATURE_GUEST_CHECKSUM,
    FEATURE_MAC,
    FEATURE_MERGEABLE,
    FEATURE_MTU,
    FEATURE_VERSION_1,
    FEATURES_OK,
    HEADER,
    INTERRUPT_STATUS,
    LIMIT,
    MTU,
    NEEDS_RESET,
    NEXT,
    NOTIFY,
    OFFER,
    QUEUE_SELECT,
    QUEUE_SIZE,
    RECEIVE,
    SEND,
    STATUS,
    WINDOW_FIRST,
    WINDOW_LAST,
    WRITE,
    Driver,
)

from rackwright.unit.nic import NicUnit

MAC = 0x02_AA_BB_CC_DD_EE

OFFLOADS = FEATURE_CHECKSUM | FEATURE_GUEST_CHECKSUM | FEATURE_MERGEABLE

NOWHERE = 0x50_0000
"""Where memory answers with faults."""


@pytest.fixture(scope="module", params=[8, long(16, why="wide flits have tests without virtio, too")])
def nic(request: pytest.FixtureRequest) -> NicUnit:
    interface = NicUnit({"virtio": 1, "network-bytes": request.param}, assertions=True)
    interface.write_fields("mac_address", address=MAC)
    return interface


@pytest.fixture
def plain(nic: NicUnit) -> Driver:
    return started(nic, 0)


@pytest.fixture(params=[0, OFFLOADS], ids=["plain", "offloads"])
def driver(nic: NicUnit, request: pytest.FixtureRequest) -> Driver:
    return started(nic, request.param)


def started(nic: NicUnit, features: int) -> Driver:
    made = Driver(nic, features=features)
    made.start()
    assert nic.read(STATUS) & NEEDS_RESET == 0
    return made


def offered(nic: NicUnit) -> int:
    features = 0
    for half in (0, 1):
        nic.write(DEVICE_FEATURE_SELECT, half)
        features |= nic.read(DEVICE_FEATURE) << 32 * half
    return features


def sent(driver: Driver) -> list[bytes]:
    assert driver.nic.unit.work(LIMIT)
    return [frame for _, _, frame in driver.bench.sent_frames()]


def test_negotiation(nic: NicUnit) -> None:
    driver = Driver(nic)
    driver.reset()
    always = FEATURE_VERSION_1 | FEATURE_MAC
    assert offered(nic) == always | FEATURE_EVENT_INDEX | OFFLOADS
    nic.write(OFFER, FEATURE_MERGEABLE | 1 << 40)
    assert nic.read(OFFER) == FEATURE_MERGEABLE
    assert offered(nic) == always | FEATURE_MERGEABLE
    driver.accept(always | FEATURE_CHECKSUM)
    assert nic.read(STATUS) & FEATURES_OK == 0
    nic.write(OFFER, FEATURE_EVENT_INDEX | OFFLOADS)
    for wrong in (FEATURE_MAC, FEATURE_VERSION_1 | FEATURE_MTU, FEATURE_VERSION_1 | 1 << 63):
        driver.accept(wrong)
        assert nic.read(STATUS) & FEATURES_OK == 0
    nic.write(MTU, 1400)
    assert offered(nic) & FEATURE_MTU
    driver.accept(FEATURE_VERSION_1 | FEATURE_MTU)
    assert nic.read(STATUS) & FEATURES_OK
    assert nic.read(CONFIGURATION).to_bytes(8, "little") == MAC.to_bytes(6, "big") + bytes(2)
    assert nic.read(CONFIGURATION + 8) == 1 | 1400 << 16
    nic.write(MTU, 0)


def test_queues_are_those_that_there_are(nic: NicUnit) -> None:
    Driver(nic).reset()
    for queue, size in ((0, 256), (1, 256), (2, 0), (0xFFFF, 0)):
        nic.write(QUEUE_SELECT, queue)
        assert nic.read(QUEUE_SIZE) == size


@pytest.mark.parametrize("length", [1514, 9014])
def test_frames_are_sent_at_the_rate_of_the_link(nic: NicUnit, length: int) -> None:
    """From the cache; a few cycles between frames are not the link's, but less than 2 % of it."""
    count, room = 16, 0x2800
    driver = Driver(nic, size=count)
    driver.start()
    ring = driver.rings[SEND]
    for index in range(count):
        driver.chain(ring, [(BUFFERS + room * index, HEADER + length)], index)
        driver.give(ring, index, notify=False)
    for place, length_bytes in ((BUFFERS, room * count), (BASE, 0x10_000)):
        driver.bench.warm(place, length_bytes, "l2")
    nic.write(NOTIFY, SEND)
    assert nic.unit.work(LIMIT)
    ends = [end for _, end, _ in driver.bench.sent_frames()]
    assert len(ends) == count
    flits = length / nic.network_bytes
    # The first ones wait for the descriptors of those behind them.
    assert ends[-1] - ends[4] < 1.02 * flits * (count - 5)


@pytest.mark.parametrize("length", [1, 7, 8, 9, 14, 60, 64, 1514, 9600])
@pytest.mark.parametrize("parts", [(), (12,), (5,), (1, 11), (12, 1), (10, 5, 3)])
def test_frames_are_sent_from_any_parts(driver: Driver, length: int, parts: tuple[int, ...]) -> None:
    parts = parts if sum(parts) < HEADER + length else ()
    frame = random.Random(length).randbytes(length)
    driver.send(frame, parts)
    assert sent(driver) == [frame]
    assert driver.take(driver.rings[SEND]) == (0, 0)
    assert driver.nic.read(INTERRUPT_STATUS) == 1
    assert driver.nic.read(INTERRUPT_STATUS) == 0


@pytest.mark.parametrize("length", [1, 8, 60, 61, 1514, 9600])
@pytest.mark.parametrize("parts", [(), (12,), (5,), (1, 1, 11), (13,), (20, 7, 30)])
def test_frames_are_received_into_any_parts(driver: Driver, length: int, parts: tuple[int, ...]) -> None:
    ring, frame = driver.rings[RECEIVE], random.Random(length).randbytes(length)
    lengths = [*parts, 9700 - sum(parts)]
    # With a byte between, so that whatever is written beside a part is seen.
    places, at = [], BUFFERS + 3
    driver.bench.write_memory(BUFFERS, b"\xa5" * 0x3000)
    for each in lengths:
        places.append((at, each))
        at += each + 1
    driver.chain(ring, places)
    driver.give(ring, 0)
    driver.bench.deliver(frame)
    assert driver.nic.unit.work(LIMIT)
    assert driver.take(ring) == (0, HEADER + length)
    content = b"".join(driver.bench.read_memory(place, each) for place, each in places)
    header = bytes(10) + struct.pack("<H", 1)
    assert content[: HEADER + length] == header + frame
    assert set(content[HEADER + length :]) == {0xA5}
    between = [driver.bench.read_memory(place + each, 1) for place, each in places]
    assert set(between) == {b"\xa5"}


def test_many_frames_both_ways_around_the_rings(driver: Driver) -> None:
    source = random.Random(1)
    receive, send = driver.rings
    for turn in range(40):
        frame = source.randbytes(source.choice([60, 61, 200, 1514]))
        first = turn % driver.size
        driver.chain(receive, [(BUFFERS + 0x8000, 2000)], first)
        driver.give(receive, first)
        driver.send(frame, (), first)
        assert sent(driver) == [frame]
        driver.bench.deliver(frame)
        assert driver.nic.unit.work(LIMIT)
        assert driver.take(send) == (first, 0)
        assert driver.take(receive) == (first, HEADER + len(frame))
        assert driver.bench.read_memory(BUFFERS + 0x8000 + HEADER, len(frame)) == frame


def test_frames_that_no_chain_has_room_for_are_dropped(plain: Driver) -> None:
    ring = plain.rings[RECEIVE]
    plain.chain(ring, [(BUFFERS, HEADER + 100)])
    plain.give(ring, 0)
    before = plain.bench.events()["virtio_dropped"]
    plain.bench.deliver(bytes(101))
    assert plain.nic.unit.work(LIMIT)
    plain.bench.deliver(bytes(range(100)))
    assert plain.nic.unit.work(LIMIT)
    assert plain.take(ring) == (0, HEADER + 100)
    assert plain.bench.read_memory(BUFFERS + HEADER, 100) == bytes(range(100))
    assert plain.bench.events()["virtio_dropped"] == before + 1


def test_a_driver_that_wants_no_interrupts_gets_none(driver: Driver) -> None:
    driver.bench.write_memory(driver.rings[SEND].available, struct.pack("<H", 1))
    driver.send(bytes(60))
    assert len(sent(driver)) == 1
    assert driver.nic.read(INTERRUPT_STATUS) == 0


def test_event_indices(nic: NicUnit) -> None:
    driver = Driver(nic, features=FEATURE_EVENT_INDEX)
    driver.start()
    ring = driver.rings[SEND]
    event = ring.available + 4 + 2 * ring.size
    driver.bench.write_memory(event, struct.pack("<H", 2))
    for number in range(4):
        driver.send(bytes(60), (), number)
        assert len(sent(driver)) == 1
        # Only the third buffer given back is the one that was asked for.
        assert nic.read(INTERRUPT_STATUS) == (number == 2)
        asked = driver.bench.read_memory(ring.used + 4 + 8 * ring.size, 2)
        assert struct.unpack("<H", asked) == (number + 1,)


def broken(driver: Driver, rule: str) -> None:
    """The device has counted an error, asks for a reset, does nothing more, and works again after it."""
    nic = driver.nic
    counted = driver.fault()
    assert counted[0] > 0
    assert counted[1] == rule
    nic.write(NOTIFY, SEND)
    nic.write(NOTIFY, RECEIVE)
    assert nic.unit.work(LIMIT)
    assert driver.fault() == counted
    assert nic.read(STATUS) & NEEDS_RESET
    assert nic.read(INTERRUPT_STATUS) & 2
    assert nic.unit.violations == 0
    driver.bench.sent_frames()
    driver.start()
    driver.send(b"after the reset")
    assert sent(driver) == [b"after the reset"]


def hostile(driver: Driver, queue: int, address: int, length: int, flags: int = 0, follower: int = 0) -> None:
    """One descriptor as it should not be."""
    nic = driver.nic
    nic.write(WINDOW_FIRST, BUFFERS)
    nic.write(WINDOW_LAST, BUFFERS + 0xF_FFFF)
    ring = driver.rings[queue]
    driver.descriptor(ring, 0, address, length, flags | (WRITE if queue == RECEIVE else 0), follower)
    driver.give(ring, 0)
    assert nic.unit.work(LIMIT)
    if queue == RECEIVE:
        driver.bench.deliver(bytes(60))
        assert nic.unit.work(LIMIT)
    assert driver.bench.sent_frames() == []
    assert driver.take(ring) is None


@pytest.mark.parametrize("queue", [RECEIVE, SEND])
def test_buffers_of_no_bytes(driver: Driver, queue: int) -> None:
    hostile(driver, queue, BUFFERS, 0)
    broken(driver, "length")
    flush(driver)


@pytest.mark.parametrize("queue", [RECEIVE, SEND])
@pytest.mark.parametrize("length", [0xFFFF_FFFF, 0x8000_0000])
def test_buffers_of_four_gibibytes(driver: Driver, queue: int, length: int) -> None:
    hostile(driver, queue, BUFFERS, length)
    broken(driver, "address" if queue == RECEIVE else "length")
    flush(driver)


@pytest.mark.parametrize("queue", [RECEIVE, SEND])
@pytest.mark.parametrize("address", [0, BUFFERS + 0xF_FFF0, 1 << 47, 1 << 63, (1 << 64) - 16])
def test_buffers_outside_memory(driver: Driver, queue: int, address: int) -> None:
    hostile(driver, queue, address, 200)
    broken(driver, "address")
    flush(driver)


@pytest.mark.parametrize("queue", [RECEIVE, SEND])
@pytest.mark.parametrize("follower", [0, 8, 0xFFFF])
def test_loops_and_links_that_lead_nowhere(driver: Driver, queue: int, follower: int) -> None:
    hostile(driver, queue, BUFFERS, 16, NEXT, follower)
    broken(driver, "chain")
    flush(driver)


@pytest.mark.parametrize("queue", [RECEIVE, SEND])
@pytest.mark.parametrize("flags", [4, 0x8000])
def test_flags_that_were_not_agreed_on(driver: Driver, queue: int, flags: int) -> None:
    hostile(driver, queue, BUFFERS, 16, flags)
    broken(driver, "order")
    flush(driver)


def test_buffers_for_the_wrong_direction(driver: Driver) -> None:
    hostile(driver, SEND, BUFFERS, 100, WRITE)
    broken(driver, "order")
    flush(driver)


@pytest.mark.parametrize("length", [1, HEADER])
def test_frames_that_are_only_header(driver: Driver, length: int) -> None:
    hostile(driver, SEND, BUFFERS, length)
    broken(driver, "length")
    flush(driver)


@pytest.mark.parametrize("head", [8, 0xFFFF])
def test_heads_outside_the_table(driver: Driver, head: int) -> None:
    driver.give(driver.rings[SEND], head)
    assert driver.nic.unit.work(LIMIT)
    broken(driver, "chain")


def test_more_available_than_the_ring_has_places(driver: Driver) -> None:
    driver.bench.write_memory(driver.rings[SEND].available + 2, struct.pack("<H", 9))
    driver.nic.write(NOTIFY, SEND)
    assert driver.nic.unit.work(LIMIT)
    broken(driver, "index")


@pytest.mark.parametrize("field", ["descriptors", "available", "used"])
def test_rings_outside_memory(nic: NicUnit, field: str) -> None:
    driver = Driver(nic)
    setattr(driver.rings[SEND], field, NOWHERE)
    nic.bench.fault(NOWHERE, 0x1000)
    driver.start()
    if field == "available":
        nic.write(NOTIFY, SEND)
    else:
        driver.send(bytes(60))
    assert nic.unit.work(LIMIT)
    nic.bench.sent_frames()
    broken(Driver(nic), "ring")


@pytest.mark.parametrize(
    ("field", "value"), [("size", 3), ("size", 0), ("size", 512), ("descriptors", 8), ("used", 2)]
)
def test_rings_of_impossible_shapes(nic: NicUnit, field: str, value: int) -> None:
    driver = Driver(nic)
    driver.reset()
    driver.accept(driver.features)
    ring = driver.rings[SEND]
    setattr(ring, field, value if field == "size" else getattr(ring, field) // 16 * 16 + value)
    driver.set_up(ring)
    assert nic.read(STATUS) & NEEDS_RESET
    broken(Driver(nic), "ring")


def flush(driver: Driver) -> None:
    """Takes frames that have waited for a buffer."""
    ring = driver.rings[RECEIVE]
    driver.chain(ring, [(BUFFERS, 2000)], 1)
    driver.give(ring, 1)
    assert driver.nic.unit.work(LIMIT)
