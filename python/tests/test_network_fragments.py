"""Fragments of IP packets at the network unit: reassembled, refused, given up; long answers."""

from __future__ import annotations

import random

import pytest
from internet_frames import IP_ADDRESS, PEER, PORTS, datagram, frame, give, network_unit, packet, ping
from scapy.layers.inet import ICMP, IP, defragment, fragment
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw
from tiers import long

from rackwright.unit.internet import ENDINGS, Datagram, NetworkUnit

LONGEST = 8972
"""Bytes of data of a ping that a jumbo frame could carry."""


@pytest.fixture
def unit() -> NetworkUnit:
    return network_unit()


def cut(whole: Packet, size: int = 1480, identification: int = 7) -> list[bytes]:
    """The frames of a packet's fragments, of at most `size` bytes after their headers."""
    whole[IP].id = identification
    return [bytes(frame() / part) for part in fragment(IP(bytes(whole)), size)]  # type: ignore[no-untyped-call]


def data(length: int, seed: int = 0) -> bytes:
    return random.Random(length + seed).randbytes(length)


def takes(unit: NetworkUnit, *frames: bytes) -> None:
    """The unit takes frames back to back. Each has one outcome, and so has each reassembled datagram."""
    for one in frames:
        unit.receive(one)
    assert unit.work()
    counters = unit.counters()
    assert counters["received_frames"] + counters["reassembled"] == sum(counters[name] for name in ENDINGS)


def answers(unit: NetworkUnit) -> list[IP]:
    """The packets that have left, reassembled by scapy."""
    packets = [Ether(timed.data)[IP] for timed in unit.frames()]
    assert all(each.src == IP_ADDRESS and len(each) <= 1500 for each in packets)
    whole = defragment([IP(bytes(each)) for each in packets])  # type: ignore[no-untyped-call]
    return [IP(bytes(each)) for each in whole]


@pytest.mark.parametrize("length", [0, 8, 1472, 1473, 1479, 1480, 1481, 2952, 2953, 4000, LONGEST])
def test_a_ping_longer_than_a_packet_comes_back(unit: NetworkUnit, length: int) -> None:
    takes(unit, *cut(packet() / ping(data(length))))
    [back] = answers(unit)
    assert (back[ICMP].type, bytes(back[ICMP].payload)) == (0, data(length))
    assert back.chksum == IP(bytes(back)).chksum
    counters = unit.counters()
    parts = -(-(length + 8) // 1480)
    assert counters["sent_fragments"] == (parts if parts > 1 else 0)
    assert (counters["reassembled"], counters["fragments"]) == ((1, parts) if parts > 1 else (0, 0))


@pytest.mark.parametrize("size", [8, 16, 24, 64, 552, 1480])
def test_fragments_of_any_size_in_any_order(unit: NetworkUnit, size: int) -> None:
    """As far as there are never more than four parts with gaps between them."""
    sent = data(size * 3 + 5)
    for seed in range(6):
        parts = cut(packet() / datagram(sent), size, seed)
        random.Random(seed).shuffle(parts)
        takes(unit, *parts)
        assert unit.datagrams(0) == [Datagram(PEER, 4000, PORTS[0], sent, IP_ADDRESS)]
    takes(unit, *reversed(cut(packet() / datagram(sent), size)))
    assert len(unit.datagrams(0)) == 1


def test_datagrams_whose_fragments_arrive_in_turn(unit: NetworkUnit) -> None:
    first = cut(packet() / datagram(data(5000, 1), PORTS[0]), identification=1)
    second = cut(packet() / datagram(data(5000, 2), PORTS[1]), identification=2)
    between = bytes(frame() / packet() / datagram(b"a whole one"))
    takes(unit, *(one for pair in zip(first, second, strict=True) for one in (*pair, between)))
    whole = [each.data for each in unit.datagrams(0)]
    assert sorted(whole, key=len) == [b"a whole one"] * len(first) + [data(5000, 1)]
    assert [each.data for each in unit.datagrams(1)] == [data(5000, 2)]


def test_packets_that_arrive_while_a_datagram_leaves_keep_their_order(unit: NetworkUnit) -> None:
    """They are buffered meanwhile; what no longer fits is dropped and counted."""
    unit.receive(bytes(frame() / packet() / datagram(b"before")))
    others = [bytes(frame() / packet() / datagram(number.to_bytes(2, "big") * 600)) for number in range(30)]
    takes(unit, *cut(packet() / datagram(data(LONGEST))), *others)
    found = [each.data for each in unit.datagrams(0)]
    assert found[0] == b"before"
    whole = found.index(data(LONGEST))
    numbers = [int.from_bytes(each[:2], "big") for each in found[1:whole] + found[whole + 1 :]]
    assert numbers == sorted(numbers)
    assert len(numbers) == len(others) - unit.counters()["dropped_full"]


def test_repetitions_are_dropped(unit: NetworkUnit) -> None:
    parts = cut(packet() / datagram(data(4000)))
    takes(unit, parts[0], parts[0], parts[1], parts[0], parts[1], parts[2])
    assert [each.data for each in unit.datagrams(0)] == [data(4000)]
    counters = unit.counters()
    assert (counters["fragments"], counters["dropped_fragment"], counters["abandoned"]) == (3, 3, 0)


def part(offset: int, content: bytes, *, more: bool, **fields: object) -> bytes:
    """A fragment, whose offset is in bytes."""
    head = packet(id=9, proto=17, frag=offset // 8, flags="MF" if more else 0, **fields)
    return bytes(frame() / head / Raw(content))


@pytest.mark.parametrize(
    "second",
    [
        part(16, bytes(24), more=True),
        part(8, bytes(32), more=True),
        part(0, bytes(40), more=True),
        part(8, bytes(16), more=False),
        part(16, bytes(4), more=False),
    ],
    ids=["over the end", "over all after the first", "over all", "an end within", "an end before the end"],
)
def test_a_fragment_that_contradicts_others_ends_its_datagram(unit: NetworkUnit, second: bytes) -> None:
    takes(unit, part(0, bytes(32), more=True), second, part(32, bytes(8), more=False))
    assert unit.datagrams(0) == []
    counters = unit.counters()
    assert (counters["dropped_fragment"], counters["abandoned"], counters["reassembled"]) == (1, 2, 0)


@pytest.mark.parametrize(
    "wrong",
    [
        part(0, bytes(12), more=True),
        part(16, b"", more=False),
        part(16384, bytes(8), more=False),
        part(16376, bytes(16), more=True),
        part(65528, bytes(8), more=False),
    ],
    ids=["a part of a unit", "nothing", "behind the buffer", "over its end", "behind the longest packet"],
)
def test_a_fragment_that_can_not_be_one(unit: NetworkUnit, wrong: bytes) -> None:
    takes(unit, wrong)
    counters = unit.counters()
    assert (counters["dropped_fragment"], counters["fragments"], counters["abandoned"]) == (1, 0, 0)


def test_a_bad_fragment_leaves_nothing_behind(unit: NetworkUnit) -> None:
    parts = cut(packet() / datagram(data(4000)))
    damaged = parts[1][:24] + b"\xff\xff" + parts[1][26:]
    takes(unit, parts[0], damaged, parts[1][:-3], parts[1], damaged, parts[2])
    assert [each.data for each in unit.datagrams(0)] == [data(4000)]
    counters = unit.counters()
    assert (counters["dropped_checksum"], counters["dropped_length"]) == (2, 1)


def test_fragments_are_waited_for_as_long_as_the_register_says(unit: NetworkUnit) -> None:
    unit.set_reassembly(3000)
    parts = cut(packet() / datagram(data(4000)))
    takes(unit, *parts[:2])
    takes(unit, parts[2])
    assert unit.datagrams(0) == []
    assert unit.counters()["abandoned"] == 2
    unit.set_reassembly(0)
    takes(unit, *parts)
    assert unit.datagrams(0) == []


def test_a_new_datagram_takes_the_place_of_the_oldest(unit: NetworkUnit) -> None:
    unit.set_reassembly(100_000)
    first, second, third = (cut(packet() / datagram(data(2000, seed)), 1480, seed) for seed in range(3))
    takes(unit, first[0], second[0], third[0], second[1], third[1])
    takes(unit, first[1])
    assert [each.data for each in unit.datagrams(0)] == [data(2000, 1), data(2000, 2)]
    counters = unit.counters()
    assert (counters["reassembled"], counters["abandoned"], counters["fragments"]) == (2, 2, 6)


def test_a_sender_learns_that_nobody_listens_from_the_first_fragment(unit: NetworkUnit) -> None:
    parts = cut(packet() / datagram(data(3000), 8))
    takes(unit, *reversed(parts))
    [back] = [Ether(timed.data) for timed in unit.frames()]
    assert (back[ICMP].type, back[ICMP].code) == (3, 3)
    assert bytes(back[ICMP].payload) == parts[0][14 : 14 + 28]


@pytest.mark.long("it compiles a second design, which differs by a box that is not there")
def test_without_places_fragments_are_dropped() -> None:
    unit = network_unit(parameters={"assemblies": 0})
    assert give(unit, *cut(packet() / datagram(data(3000)))) == []
    assert unit.counters()["dropped_fragment"] == 3


@pytest.mark.parametrize("seeds", [range(4), long(range(4, 400), why="half a minute", name="400")])
def test_a_flood_of_fragments(unit: NetworkUnit, seeds: range) -> None:
    """Random ones of few datagrams, which fit each other or not, with datagrams between them that arrive."""
    unit.set_reassembly(20_000)
    for seed in seeds:
        source = random.Random(seed)
        frames, expected = [], []
        for _ in range(60):
            if source.random() < 0.2:
                expected.append(source.randbytes(source.randrange(100)))
                frames.append(bytes(frame() / packet() / datagram(expected[-1])))
                continue
            content = source.randbytes(8 * source.randint(0, 20) + source.choice([0, 0, 3]))
            head = packet(id=source.randrange(4), frag=source.randrange(60), flags=source.choice(["MF", 0]))
            frames.append(bytes(frame() / head / Raw(content)))
        before = unit.counters()
        takes(unit, *frames)
        after = unit.counters()
        assert [each.data for each in unit.datagrams(0) if each.peer_port == 4000] == expected
        assert after["dropped_full"] == before["dropped_full"]
