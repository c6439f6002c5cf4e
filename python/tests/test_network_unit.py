"""The network unit against scapy: ARP, echo, datagrams both ways, and what is sent to whom."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice

import pytest
from command_line import rw
from internet_frames import (
    IP_ADDRESS,
    MAC,
    PEER,
    PEER_MAC,
    PORTS,
    answer,
    datagram,
    frame,
    give,
    network_unit,
    packet,
    ping,
    question,
    sent,
)
from scapy.layers.inet import ICMP, IP, UDP, IPOption_NOP
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Raw
from tiers import long

from rackwright.errors import RackwrightError
from rackwright.unit.internet import ENDINGS, Address, Datagram, NetworkUnit

LENGTHS = [*range(20), 31, 32, 33, 1000, 1471, 1472]
"""Bytes of data: around flits, and the most that fit a frame."""


def data(length: int) -> bytes:
    return random.Random(length).randbytes(length)


@pytest.fixture
def unit() -> NetworkUnit:
    return network_unit()


def test_who_asks_for_the_address_is_answered(unit: NetworkUnit) -> None:
    [reply] = give(unit, question())
    assert (reply.dst, reply.src, reply[ARP].op) == (PEER_MAC, MAC, 2)
    assert (reply[ARP].hwsrc, reply[ARP].psrc) == (MAC, IP_ADDRESS)
    assert (reply[ARP].hwdst, reply[ARP].pdst) == (PEER_MAC, PEER)
    assert give(unit, question("10.0.0.3")) == []
    assert unit.counters()["arp"] == 2


def test_a_ping_of_any_length_comes_back(unit: NetworkUnit) -> None:
    for length in LENGTHS:
        [back] = give(unit, frame() / packet(ttl=1) / ping(data(length)))
        assert (back.dst, back.src, back[IP].src, back[IP].dst) == (PEER_MAC, MAC, IP_ADDRESS, PEER)
        assert (back[ICMP].type, back[ICMP].id, back[ICMP].seq) == (0, 77, 3)
        assert bytes(back[ICMP].payload) == data(length)
    assert unit.counters()["echoed"] == len(LENGTHS)


def test_datagrams_of_any_length_reach_the_stream_of_their_port(unit: NetworkUnit) -> None:
    for stream, port in PORTS.items():
        frames = [frame() / packet() / datagram(data(length), port) for length in LENGTHS]
        assert give(unit, *frames) == []
        assert unit.datagrams(stream) == [
            Datagram(PEER, 4000, port, data(length), IP_ADDRESS) for length in LENGTHS
        ]
    assert unit.counters()["delivered"] == 2 * len(LENGTHS)


def test_datagrams_of_any_length_leave(unit: NetworkUnit) -> None:
    give(unit, question())
    for length in LENGTHS:
        unit.send(Datagram(PEER, 5000, 7, data(length)), length % 2)
        assert unit.work()
        [out] = sent(unit)
        assert (out.dst, out[IP].src, out[IP].dst, out[IP].flags) == (PEER_MAC, IP_ADDRESS, PEER, "DF")
        assert (out[UDP].sport, out[UDP].dport) == (7, 5000)
        assert bytes(out[UDP].payload) == data(length)
    assert unit.counters()["sent_datagrams"] == len(LENGTHS)


def test_what_comes_out_of_a_stream_can_go_back_in_as_it_is(unit: NetworkUnit) -> None:
    give(unit, question(), frame() / packet() / datagram(b"there and back"))
    [raw] = unit.raw(0)
    unit.send(raw.data)
    assert unit.work()
    [out] = sent(unit)
    assert (out[UDP].sport, out[UDP].dport, bytes(out[UDP].payload)) == (7, 4000, b"there and back")


def test_both_ways_at_once(unit: NetworkUnit) -> None:
    give(unit, question())
    for length in LENGTHS:
        unit.receive(bytes(frame() / packet() / datagram(data(length))))
        for stream in PORTS:
            unit.send(Datagram(PEER, 5000 + stream, 7, data(length)), stream)
    assert unit.work()
    assert [one.data for one in unit.datagrams(0)] == [data(length) for length in LENGTHS]
    out = sent(unit)
    for stream in PORTS:
        found = [bytes(one[UDP].payload) for one in out if one[UDP].dport == 5000 + stream]
        assert found == [data(length) for length in LENGTHS]


def test_tags_with_a_priority_only_and_options_are_skipped(unit: NetworkUnit) -> None:
    options = [IPOption_NOP()] * 9
    tagged = Ether(dst=MAC, src=PEER_MAC) / Dot1Q(vlan=0, prio=3)
    give(unit, tagged / packet() / datagram(), frame() / packet(options=options) / datagram())
    assert [one.data for one in unit.datagrams(0)] == [b"data", b"data"]


def test_a_unit_in_a_virtual_network_takes_and_gives_its_tag() -> None:
    own = Address(MAC, f"{IP_ADDRESS}/24", vlan=5)
    unit = NetworkUnit(own, assertions=True)
    request = Ether(dst=MAC, src=PEER_MAC) / Dot1Q(vlan=5) / packet() / ping()
    [back] = give(unit, request, frame() / packet() / ping())
    assert (back[Dot1Q].vlan, back[ICMP].type) == (5, 0)
    assert unit.counters()["dropped_vlan"] == 1


def test_to_everybody_and_to_groups_needs_no_question(unit: NetworkUnit) -> None:
    found = {}
    for peer in ("255.255.255.255", "10.0.0.255", "224.129.2.3"):
        unit.send(Datagram(peer, 1, 2, b"all"))
        assert unit.work()
        [out] = sent(unit)
        found[peer] = out.dst
    everybody = "ff:ff:ff:ff:ff:ff"
    assert list(found.values()) == [everybody, everybody, "01:00:5e:01:02:03"]


def test_other_networks_are_reached_by_the_gateway(unit: NetworkUnit) -> None:
    unit.set_interval(2000)
    unit.send(Datagram("192.0.2.9", 1, 2, b"far"))
    unit.bench.run(500)
    [query] = sent(unit)
    assert (query.dst, query[ARP].pdst) == ("ff:ff:ff:ff:ff:ff", "10.0.0.254")
    [out] = give(unit, answer("10.0.0.254", "02:00:00:00:00:fe"))
    assert (out.dst, out[IP].dst) == ("02:00:00:00:00:fe", "192.0.2.9")


def test_a_question_holds_its_own_destination_only(unit: NetworkUnit) -> None:
    unit.set_interval(5000)
    give(unit, question())
    unit.send(Datagram("10.0.0.99", 1, 2, b"waits"))
    unit.send(Datagram(PEER, 1, 2, b"goes on"))
    unit.bench.run(600)
    query, other = sent(unit)
    assert (query[ARP].pdst, bytes(other[UDP].payload)) == ("10.0.0.99", b"goes on")
    # Whoever is asked is heard, and others are served, while the question is open.
    unit.receive(bytes(frame() / packet() / ping()))
    unit.bench.run(600)
    assert [one[ICMP].type for one in sent(unit)] == [0]
    [out] = give(unit, answer("10.0.0.99", "02:00:00:00:00:99"))
    assert (out.dst, bytes(out[UDP].payload)) == ("02:00:00:00:00:99", b"waits")


def test_a_station_is_asked_three_times_and_then_given_up(unit: NetworkUnit) -> None:
    unit.set_interval(1000)
    unit.send(Datagram("10.0.0.99", 1, 2, b"lost"))
    assert unit.work()
    assert [one[ARP].pdst for one in sent(unit)] == ["10.0.0.99"] * 3
    assert give(unit, answer("10.0.0.99", "02:00:00:00:00:99")) == []
    counters = unit.counters()
    assert (counters["unresolved"], counters["arp_queries"], counters["sent_datagrams"]) == (1, 3, 0)


def test_the_last_datagram_for_an_unknown_station_is_kept(unit: NetworkUnit) -> None:
    unit.set_interval(5000)
    for text in (b"first", b"the second, which is longer", b"third"):
        unit.send(Datagram("10.0.0.99", 1, 2, text))
    unit.bench.run(600)
    sent(unit)
    [out] = give(unit, answer("10.0.0.99", "02:00:00:00:00:99"))
    assert bytes(out[UDP].payload) == b"third"
    assert unit.counters()["refused_waiting"] == 2


def test_so_many_unknown_stations_are_asked_at_once_and_no_more(unit: NetworkUnit) -> None:
    unit.set_interval(4000)
    for host in range(100, 106):
        unit.send(Datagram(f"10.0.0.{host}", 1, 2, b"x"))
    assert unit.work()
    asked = [one[ARP].pdst for one in sent(unit)]
    assert sorted(set(asked)) == [f"10.0.0.{host}" for host in range(100, 104)]
    counters = unit.counters()
    assert (counters["refused_waiting"], counters["unresolved"]) == (2, 4)


def test_addresses_are_forgotten_when_software_says_so(unit: NetworkUnit) -> None:
    unit.set_interval(1000)
    give(unit, question())
    unit.flush()
    unit.send(Datagram(PEER, 1, 2, b"x"))
    unit.bench.run(500)
    assert [one[ARP].pdst for one in sent(unit)] == [PEER]
    [out] = give(unit, answer())
    assert out[IP].dst == PEER


@pytest.mark.parametrize(
    ("name", "raw", "counter"),
    [
        ("more data than the length says", Datagram(PEER, 1, 2, b"four").to_bytes() + b"!", "refused_length"),
        ("less data than the length says", Datagram(PEER, 1, 2, b"four").to_bytes()[:-1], "refused_length"),
        ("half a header", Datagram(PEER, 1, 2, b"").to_bytes()[:12], "refused_length"),
        ("a flit", Datagram(PEER, 1, 2, b"").to_bytes()[:8], "refused_length"),
        ("more than a frame has", Datagram(PEER, 1, 2, bytes(1473)).to_bytes(), "refused_length"),
        ("more than the buffer has", Datagram(PEER, 1, 2, bytes(30_000)).to_bytes(), "refused_length"),
        ("to itself", Datagram(IP_ADDRESS, 1, 2, b"x").to_bytes(), "refused_route"),
        ("to 0.0.0.0", Datagram("0.0.0.0", 1, 2, b"x").to_bytes(), "refused_route"),
        ("to this host", Datagram("127.0.0.1", 1, 2, b"x").to_bytes(), "refused_route"),
        ("to class E", Datagram("240.0.0.1", 1, 2, b"x").to_bytes(), "refused_route"),
    ],
)
def test_what_cannot_be_sent_is_refused_and_the_next_goes(
    unit: NetworkUnit, name: str, raw: bytes, counter: str
) -> None:
    give(unit, question())
    unit.send(raw)
    unit.send(Datagram(PEER, 1, 2, b"next"))
    assert unit.work()
    assert [bytes(one[UDP].payload) for one in sent(unit)] == [b"next"], name
    assert unit.counters()[counter] == 1


def test_without_a_gateway_other_networks_are_refused() -> None:
    unit = NetworkUnit(Address(MAC, f"{IP_ADDRESS}/24"), assertions=True)
    unit.send(Datagram("192.0.2.9", 1, 2, b"far"))
    assert unit.work()
    assert (sent(unit), unit.counters()["refused_route"]) == ([], 1)


def test_a_flood_of_questions_is_bounded_and_counted(unit: NetworkUnit) -> None:
    flood = [question(sender=f"10.0.0.{host}", mac=f"02:00:00:00:01:{host:02x}") for host in range(3, 253)]
    replies = give(unit, *flood, frame() / packet() / ping())
    counters = unit.counters()
    assert counters["arp"] == len(flood)
    assert counters["arp_replies"] + counters["arp_replies_lost"] == len(flood)
    assert counters["arp_replies"] == sum(ARP in one for one in replies)
    assert counters["echoed"] == 1


def test_a_flood_of_pings_is_bounded_and_counted(unit: NetworkUnit) -> None:
    flood = [frame() / packet() / ping(bytes(1400))] * 40 + [frame() / packet() / ping(b"")] * 200
    back = give(unit, *flood)
    counters = unit.counters()
    assert counters["echoed"] + counters["dropped_full"] == len(flood)
    assert len(back) == counters["echoed"] > 0


def mutants(source: random.Random, count: int) -> Iterator[bytes]:
    """Frames of each kind with some wrong bytes, and some that are cut short."""
    good = [
        question(),
        answer(),
        frame() / packet() / ping(bytes(30)),
        frame() / packet() / datagram(bytes(50)),
        frame() / packet(options=[IPOption_NOP()] * 5) / datagram(b"", PORTS[1]),
        Ether(dst=MAC, src=PEER_MAC) / Dot1Q(vlan=0) / packet() / datagram(bytes(9)),
    ]
    plain = [bytes(each) for each in good]
    for number in range(count):
        mutant = bytearray(plain[number % len(plain)])
        for _ in range(source.randrange(1, 4)):
            mutant[source.randrange(len(mutant))] = source.randrange(256)
        if source.randrange(4) == 0:
            del mutant[source.randrange(1, len(mutant)) :]
        yield bytes(mutant)


@pytest.mark.parametrize("count", [200, long(1_000_000, why="two minutes of simulation")])
def test_mutated_frames_are_counted_once_each(unit: NetworkUnit, count: int) -> None:
    leaving = delivered = 0
    frames = mutants(random.Random(52), count)
    while part := list(islice(frames, 2000)):
        for mutant in part:
            unit.receive(mutant)
        assert unit.work()
        leaving += len(unit.frames())
        delivered += len(unit.raw(0)) + len(unit.raw(1))
    [alive] = give(unit, frame() / packet() / ping(b"alive"))
    assert bytes(alive[Raw]) == b"alive"
    counters = unit.counters()
    assert counters["received_frames"] == count + 1
    assert counters["received_frames"] + counters["reassembled"] == sum(counters[name] for name in ENDINGS)
    assert counters["sent_frames"] == leaving + 1
    assert counters["delivered"] == delivered


def test_the_same_happens_when_idle_cycles_are_simulated() -> None:
    digests = set()
    for skip_idle in (True, False):
        unit = network_unit(skip_idle=skip_idle)
        unit.set_interval(500)
        unit.set_unreachable(700)
        give(unit, question(), frame() / packet() / ping(), frame() / packet() / datagram())
        give(unit, *[frame() / packet() / datagram(port=8)] * 3)
        unit.send(Datagram("10.0.0.99", 1, 2, b"lost"))
        unit.send(Datagram(PEER, 1, 2, b"sent"))
        unit.bench.run(10_000)
        digests.add(unit.unit.digest)
    assert len(digests) == 1


def test_an_echo_in_the_unit_and_its_bars() -> None:
    rows = rw("bench", "udp", "--by", "unit", "--frames", "20", "--json").json()["rows"]
    assert all(row["verified"] for row in rows)
    # 75 million frames of 64 bytes, 100 Gbit/s, and 250 ns at 2 GHz.
    most = {("latency", 64): 500, 64: 2000 / 75, 1024: 1024 * 8 / 100 * 2}
    for row in rows:
        bytes_ = row["frame_bytes"]
        assert row["cycles"] <= most.get((row["test"], bytes_), most[bytes_]), row


@pytest.mark.parametrize("interface", ["10.0.0.1/33", "ten", "10.0.0.256/24"])
def test_what_is_no_address_is_named(interface: str) -> None:
    with pytest.raises(RackwrightError, match="the address of a network unit"):
        Address(MAC, interface).registers()
