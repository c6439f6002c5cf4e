"""A frame for each rule of RFC 768, 791, 792, 826, 894 and 1122 that the network unit keeps as a host."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import pytest
from internet_frames import (
    IP_ADDRESS,
    MAC,
    PEER,
    PEER_MAC,
    answer,
    datagram,
    frame,
    give,
    network_unit,
    packet,
    ping,
    question,
)
from scapy.layers.inet import ICMP, IP, UDP, IPOption, IPOption_Timestamp
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Packet, Raw

from rackwright.unit.internet import Datagram

EVERYBODY = "ff:ff:ff:ff:ff:ff"


@dataclass(frozen=True)
class Rule:
    """A frame, and the counter of what has to become of it; with `answers`, of how many frames leave."""

    name: str
    make: Callable[[], Packet | bytes]
    ending: str
    answers: int = 0


def cut(packet: Packet, length: int) -> bytes:
    return bytes(packet)[:length]


def spoiled(packet: Packet, at: int) -> bytes:
    """One bit of a byte is another."""
    raw = bytearray(bytes(packet))
    raw[at] ^= 1
    return bytes(raw)


def udp(**fields: object) -> Packet:
    return frame() / packet() / datagram(**fields)  # type: ignore[arg-type]


RULES = [
    # RFC 768
    Rule("RFC 768: a checksum that is right is accepted", udp, "delivered"),
    Rule("RFC 768: without a checksum it is not checked", lambda: udp(chksum=0), "delivered"),
    Rule("RFC 768: the pseudo header is part of the sum", lambda: udp(chksum=0x1234), "dropped_udp_checksum"),
    Rule("RFC 768: the least length is eight", lambda: udp(len=7), "dropped_udp_length"),
    Rule("RFC 768: a length of eight is no data", lambda: udp(data=b""), "delivered"),
    Rule("RFC 768: the length lies within the packet", lambda: udp(len=13), "dropped_udp_length"),
    # RFC 791
    Rule(
        "RFC 791: the header has five words or more",
        lambda: frame() / packet(ihl=4) / datagram(),
        "dropped_header",
    ),
    Rule(
        "RFC 791: the packet has its header", lambda: frame() / packet(len=19) / datagram(), "dropped_length"
    ),
    Rule(
        "RFC 791: options may stand in any packet",
        lambda: frame() / packet(options=[IPOption_Timestamp()]) / ping(),
        "echoed",
        1,
    ),
    Rule(
        "RFC 791: all of the packet is there",
        lambda: frame() / packet(len=1000) / datagram(),
        "dropped_length",
    ),
    Rule("RFC 791: what is behind the packet is no part of it", lambda: udp() / Raw(b""), "delivered"),
    Rule(
        "RFC 791: first fragments are not taken for whole packets",
        lambda: frame() / packet(flags="MF") / datagram(),
        "dropped_fragment",
    ),
    Rule(
        "RFC 791: later fragments are not taken for whole packets",
        lambda: frame() / packet(frag=1) / datagram(),
        "fragments",
    ),
    Rule(
        "RFC 791: the flag that forbids fragments is no fragment",
        lambda: frame() / packet(flags="DF") / datagram(),
        "delivered",
    ),
    # RFC 792
    Rule("RFC 792: an echo request is answered", lambda: frame() / packet() / ping(), "echoed", 1),
    Rule(
        "RFC 792: a wrong checksum is not answered",
        lambda: frame() / packet() / ping(chksum=1),
        "dropped_icmp_checksum",
    ),
    Rule("RFC 792: an echo reply is not answered", lambda: frame() / packet() / ping(type=0), "dropped_icmp"),
    Rule(
        "RFC 792: errors are not answered",
        lambda: frame() / packet() / ICMP(type=3, code=3) / Raw(bytes(28)),
        "dropped_icmp",
    ),
    # RFC 826
    Rule("RFC 826: a question for us is answered", question, "arp", 1),
    Rule("RFC 826: a question for others is not", lambda: question("10.0.0.7"), "arp"),
    Rule("RFC 826: an answer is not answered", answer, "arp"),
    Rule(
        "RFC 826: another kind of hardware is none of ours",
        lambda: frame() / ARP(op=1, hwtype=6, pdst=IP_ADDRESS),
        "dropped_arp",
    ),
    Rule(
        "RFC 826: another protocol is none of ours",
        lambda: frame() / ARP(op=1, ptype=0x86DD, pdst=IP_ADDRESS),
        "dropped_arp",
    ),
    Rule(
        "RFC 826: other lengths of addresses are none of ours",
        lambda: frame() / ARP(op=1, hwlen=8, pdst=IP_ADDRESS),
        "dropped_arp",
    ),
    Rule(
        "RFC 826: another operation is none of ours",
        lambda: frame() / ARP(op=9, psrc=PEER, pdst=IP_ADDRESS),
        "dropped_arp",
    ),
    Rule("RFC 826: all of the packet is there", lambda: cut(question(), 14 + 27), "dropped_arp"),
    Rule(
        "RFC 5227: who looks whether our address is free is answered",
        lambda: question(sender="0.0.0.0"),
        "arp",
        1,
    ),
    Rule(
        "RFC 5227: who says that our address is his is not believed",
        lambda: question(sender=IP_ADDRESS),
        "dropped_arp",
    ),
    # RFC 894 and 802.1Q
    Rule("RFC 894: a frame has its header", lambda: cut(udp(), 13), "dropped_short"),
    Rule(
        "RFC 894: padding of a short frame is dropped", lambda: bytes(udp(data=b"")) + bytes(18), "delivered"
    ),
    Rule(
        "RFC 894: other types are for others",
        lambda: frame(type=0x86DD) / Raw(bytes(46)),
        "dropped_ethertype",
    ),
    Rule(
        "802.1Q: other networks are others'",
        lambda: frame() / Dot1Q(vlan=9) / packet() / datagram(),
        "dropped_vlan",
    ),
    Rule(
        "802.3: frames for other stations are theirs",
        lambda: frame(dst=PEER_MAC) / packet() / datagram(),
        "dropped_mac",
    ),
    Rule(
        "802.3: no group sends a frame", lambda: frame(src=EVERYBODY) / packet() / datagram(), "dropped_mac"
    ),
    # RFC 1122
    Rule(
        "RFC 1122, 3.2.1.1: another version is dropped in silence",
        lambda: frame() / packet(version=6) / datagram(),
        "dropped_header",
    ),
    Rule(
        "RFC 1122, 3.2.1.2: the checksum of every header is verified",
        lambda: spoiled(udp(), 14 + 8),
        "dropped_checksum",
    ),
    Rule(
        "RFC 1122, 3.2.1.3: what is not for us is dropped in silence",
        lambda: frame() / packet(dst="10.0.0.9") / ping(),
        "dropped_destination",
    ),
    Rule(
        "RFC 1122, 3.2.1.3: no host sends from 127.0.0.1",
        lambda: frame() / packet(src="127.0.0.1") / ping(),
        "dropped_source",
    ),
    Rule(
        "RFC 1122, 3.2.1.3: no host sends from a group",
        lambda: frame() / packet(src="224.0.0.1") / ping(),
        "dropped_source",
    ),
    Rule(
        "RFC 1122, 3.2.1.3: no host sends from all hosts",
        lambda: frame() / packet(src="255.255.255.255") / ping(),
        "dropped_source",
    ),
    Rule(
        "RFC 1122, 3.2.1.3: no host sends from all of a network",
        lambda: frame() / packet(src="10.0.0.255") / ping(),
        "dropped_source",
    ),
    Rule(
        "RFC 1122, 3.2.1.3: no host sends from 0.0.0.0",
        lambda: frame() / packet(src="0.0.0.0") / ping(),
        "dropped_source",
    ),
    Rule(
        "RFC 1122, 3.2.1.3: nobody else sends from our address",
        lambda: frame() / packet(src=IP_ADDRESS) / ping(),
        "dropped_source",
    ),
    Rule(
        "RFC 1122, 3.2.1.7: a packet for us may have no hops left",
        lambda: frame() / packet(ttl=0) / ping(),
        "echoed",
        1,
    ),
    Rule(
        "RFC 1122, 3.2.1.8: options that nobody knows are ignored",
        lambda: frame() / packet(options=[IPOption(b"\x99\x04ab")]) / ping(),
        "echoed",
        1,
    ),
    Rule(
        "RFC 1122, 3.2.2: messages of unknown types are dropped in silence",
        lambda: frame() / packet() / ping(type=99),
        "dropped_icmp",
    ),
    Rule(
        "RFC 1122, 3.2.2.1: protocols that are not there",
        lambda: frame() / packet(proto=132) / Raw(bytes(20)),
        "dropped_protocol",
        1,
    ),
    Rule(
        "RFC 1122, 3.2.2: nor is one for a protocol that is not there",
        lambda: frame(dst=EVERYBODY) / packet(dst="10.0.0.255", proto=132) / Raw(bytes(20)),
        "dropped_protocol",
    ),
    Rule(
        "RFC 1122, 3.2.2: nor for a later fragment",
        lambda: frame() / packet(proto=132, frag=1) / Raw(bytes(20)),
        "fragments",
    ),
    Rule(
        "RFC 1122, 3.2.2.6: pings to everybody are not answered",
        lambda: frame(dst=EVERYBODY) / packet(dst="10.0.0.255") / ping(),
        "dropped_icmp",
    ),
    Rule(
        "RFC 1122, 3.3.6: all hosts are reached by 255.255.255.255",
        lambda: frame(dst=EVERYBODY) / packet(dst="255.255.255.255") / datagram(),
        "delivered",
    ),
    Rule(
        "RFC 1122, 3.3.6: all hosts of the network are reached",
        lambda: frame(dst=EVERYBODY) / packet(dst="10.0.0.255") / datagram(),
        "delivered",
    ),
    Rule(
        "RFC 1122, 3.3.6: what comes to everybody is for all hosts",
        lambda: frame(dst=EVERYBODY) / packet() / ping(),
        "dropped_destination",
    ),
    Rule(
        "RFC 1122, 4.1.3.1: ports that nobody listens at are answered", lambda: udp(port=8), "dropped_port", 1
    ),
    Rule(
        "RFC 1122, 3.2.2: no error is answered for what is for all hosts",
        lambda: frame(dst=EVERYBODY) / packet(dst="255.255.255.255") / datagram(port=8),
        "dropped_port",
    ),
    Rule(
        "RFC 1122, 3.2.2: no error is answered with an error",
        lambda: frame() / packet() / ICMP(type=3, code=3) / packet() / datagram(port=8),
        "dropped_icmp",
    ),
    Rule(
        "RFC 1112, 7.2: groups to which the host does not belong",
        lambda: frame(dst="01:00:5e:00:00:fb") / packet(dst="224.0.0.251") / datagram(),
        "dropped_mac",
    ),
    Rule(
        "RFC 1122, 4.1.3.4: a wrong checksum is dropped in silence",
        lambda: spoiled(udp(), 14 + 20 + 8),
        "dropped_udp_checksum",
    ),
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_rules_for_what_comes(rule: Rule) -> None:
    unit = network_unit()
    assert len(give(unit, rule.make())) == rule.answers
    counters = unit.counters()
    assert (counters["received_frames"], counters[rule.ending]) == (1, 1)
    assert len(unit.datagrams(0)) == counters["delivered"]


def test_rfc_1122_4_1_3_5_programs_get_the_addresses_of_a_datagram() -> None:
    unit = network_unit()
    give(unit, udp())
    [found] = unit.datagrams(0)
    assert (found.peer, found.peer_port, found.own, found.own_port) == (PEER, 4000, IP_ADDRESS, 7)


def test_rfc_768_a_sum_of_zero_is_sent_as_ones() -> None:
    unit = network_unit()
    # Two bytes of data that make the sum of all words 0xffff, which without the rule would be sent as 0.
    plain = IP(bytes(IP(src=IP_ADDRESS, dst=PEER) / UDP(sport=7, dport=9) / Raw(b"\0\0")))
    give(unit, question())
    unit.send(Datagram(PEER, 9, 7, int(plain[UDP].chksum).to_bytes(2, "big")))
    assert unit.work()
    [timed] = unit.frames()
    assert Ether(timed.data)[UDP].chksum == 0xFFFF


def test_rfc_1122_3_2_2_6_an_answer_has_all_that_was_in_the_request() -> None:
    unit = network_unit()
    data = bytes(range(256))
    [back] = give(unit, frame() / packet() / ping(data, id=0xFFFF, seq=0xFFFE))
    assert (back[ICMP].id, back[ICMP].seq, bytes(back[Raw])) == (0xFFFF, 0xFFFE, data)
    assert (back[IP].src, back.dst, back.src) == (IP_ADDRESS, PEER_MAC, MAC)


def test_rfc_1122_2_3_2_1_one_question_for_an_address_in_each_interval() -> None:
    unit = network_unit()
    unit.set_interval(3000)
    for _ in range(20):
        unit.send(Datagram("10.0.0.77", 1, 2, b"x"))
    unit.work()
    times = [timed.first for timed in unit.frames()]
    assert len(times) == 3
    assert all(later - earlier >= 3000 for earlier, later in pairwise(times))
