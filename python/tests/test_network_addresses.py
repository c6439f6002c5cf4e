"""The network unit with several addresses, in groups, and at ports and protocols of nobody, against scapy."""

from __future__ import annotations

from dataclasses import replace

import pytest
from internet_frames import (
    IP_ADDRESS,
    MAC,
    PEER,
    PEER_MAC,
    datagram,
    frame,
    give,
    network_unit,
    packet,
    ping,
    question,
)
from scapy.layers.inet import ICMP, IP, UDP, IPerror, IPOption_NOP, UDPerror, fragment
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Packet, Raw

from rackwright.unit.internet import Datagram, NetworkUnit

SECOND, LAST = "10.0.0.9", "192.0.2.200"
GROUP, GROUP_MAC = "239.129.2.3", "01:00:5e:01:02:03"
OTHER = "239.1.2.3"
"""It has the station of the group."""


@pytest.fixture
def unit() -> NetworkUnit:
    unit = network_unit()
    unit.add_address(0, SECOND)
    unit.add_address(3, LAST)
    unit.join(2, GROUP)
    return unit


@pytest.mark.parametrize("own", [IP_ADDRESS, SECOND, LAST])
def test_each_address_is_answered_for_and_answers(unit: NetworkUnit, own: str) -> None:
    [reply] = give(unit, question(own))
    assert (reply[ARP].hwsrc, reply[ARP].psrc, reply[ARP].pdst) == (MAC, own, PEER)
    [back] = give(unit, frame() / packet(dst=own) / ping())
    assert (back[IP].src, back[ICMP].type) == (own, 0)
    give(unit, frame() / packet(dst=own) / datagram(b"there and back"))
    [raw] = unit.raw(0)
    assert Datagram.from_bytes(raw.data).own == own
    unit.send(raw.data)
    assert unit.work()
    [out] = give(unit)
    assert (out[IP].src, out[IP].dst, bytes(out[UDP].payload)) == (own, PEER, b"there and back")


def test_what_is_sent_has_an_address_of_ours(unit: NetworkUnit) -> None:
    """Also where the program has given another one, and without data."""
    give(unit, question())
    for own, expected in (("0.0.0.0", IP_ADDRESS), ("10.0.0.8", IP_ADDRESS), (SECOND, SECOND)):
        for data in (b"", b"data"):
            unit.send(replace(Datagram(PEER, 5000, 7, data), own=own))
            [out] = give(unit)
            assert out[IP].src == expected


def test_our_addresses_are_not_those_of_others(unit: NetworkUnit) -> None:
    give(
        unit,
        frame() / packet(src=LAST) / datagram(),
        question(sender=SECOND),
        frame() / packet(dst="10.0.0.8") / ping(),
    )
    unit.send(Datagram(SECOND, 5000, 7, b""))
    assert unit.work()
    counters = unit.counters()
    names = ("dropped_source", "dropped_arp", "dropped_destination", "refused_route")
    assert [counters[name] for name in names] == [1, 1, 1, 1]


def test_datagrams_to_a_group_are_received_and_nothing_else_is(unit: NetworkUnit) -> None:
    to_group = frame(dst=GROUP_MAC) / packet(dst=GROUP)
    sent = give(
        unit,
        to_group / datagram(b"to all of us"),
        to_group / ping(),
        to_group / datagram(port=8),
        frame(dst=GROUP_MAC) / packet(dst=OTHER) / datagram(),
        frame(dst=GROUP_MAC) / packet() / datagram(),
        frame(dst="01:00:5e:01:02:04") / packet(dst=GROUP) / datagram(),
    )
    assert sent == []
    assert unit.datagrams(0) == [Datagram(PEER, 4000, 7, b"to all of us", GROUP)]
    counters = unit.counters()
    names = ("dropped_icmp", "dropped_port", "dropped_destination", "dropped_mac")
    assert [counters[name] for name in names] == [1, 1, 2, 1]
    unit.join(2, "0.0.0.0")
    give(unit, to_group / datagram())
    assert unit.datagrams(0) == []


def assert_unreachable(back: Packet, sent: Packet, code: int) -> None:
    """The unit answers a frame to its second address by this ICMP error, with the beginning of the packet."""
    assert (back.dst, back[IP].src, back[IP].dst) == (PEER_MAC, SECOND, PEER)
    assert (back[ICMP].type, back[ICMP].code) == (3, code)
    assert bytes(back[ICMP].payload) == bytes(Ether(bytes(sent))[IP])[:28]


@pytest.mark.parametrize("length", [0, 1, 100])
def test_a_sender_learns_that_nobody_listens(unit: NetworkUnit, length: int) -> None:
    sent = frame() / packet(dst=SECOND, id=77, ttl=9, tos=4, flags="DF") / datagram(bytes(length), 8)
    [back] = give(unit, sent)
    assert_unreachable(back, sent, code=3)
    assert (back[IPerror].id, back[UDPerror].dport) == (77, 8)
    assert unit.counters()["unreachables"] == 1


@pytest.mark.parametrize("length", [0, 1, 3, 4, 5, 7, 8, 9, 100])
def test_a_sender_learns_that_nobody_has_its_protocol(unit: NetworkUnit, length: int) -> None:
    sent = frame() / packet(dst=SECOND, id=77, ttl=9, proto=132) / Raw(bytes(range(1, length + 1)))
    [back] = give(unit, sent)
    assert_unreachable(back, sent, code=2)
    assert back[IPerror].proto == 132
    counters = unit.counters()
    assert (counters["unreachables"], counters["dropped_protocol"]) == (1, 1)


def test_a_protocol_of_nobody_is_told_after_all_fragments_and_never_to_many(unit: NetworkUnit) -> None:
    whole = IP(bytes(packet(id=5, proto=132) / Raw(bytes(range(200)) * 10)))
    parts = [frame() / part for part in fragment(whole, 800)]  # type: ignore[no-untyped-call]
    [back] = give(unit, *reversed(parts))
    assert bytes(back[ICMP].payload) == bytes(parts[0][IP])[:28]
    assert unit.counters()["unreachables"] == 1
    to_group = frame(dst=GROUP_MAC) / packet(dst=GROUP, proto=132) / Raw(b"to all of us")
    with_options = frame() / packet(options=[IPOption_NOP()] * 4, proto=132) / Raw(b"routed")
    damaged = frame() / packet(proto=132, chksum=1) / Raw(b"damaged")
    assert give(unit, to_group, with_options, damaged) == []
    assert unit.counters()["unreachables"] == 1


def test_such_messages_have_an_interval_and_can_be_switched_off(unit: NetworkUnit) -> None:
    unit.set_unreachable(3000)
    unknown = frame() / packet() / datagram(port=8)
    assert len(give(unit, *[unknown] * 20)) == 1
    assert len(give(unit, unknown)) == 1
    assert len(give(unit, frame() / packet(proto=132) / Raw(b"x"), unknown)) == 1
    assert give(unit, frame() / packet(options=[IPOption_NOP()] * 4) / datagram(port=8)) == []
    unit.set_unreachable(0)
    assert give(unit, unknown) == []
    counters = unit.counters()
    assert (counters["unreachables"], counters["dropped_port"]) == (3, 24)
