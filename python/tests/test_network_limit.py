"""The rate of each sender at the network unit: a flood of one takes nothing from another."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest
from internet_frames import PEER, datagram, frame, give, network_unit, packet, ping, question
from scapy.layers.inet import ICMP, IP, fragment
from scapy.packet import Packet

from rackwright.errors import RackwrightError
from rackwright.unit.internet import ENDINGS, Datagram, NetworkUnit

FLOOD, OTHER = PEER, "10.0.0.3"
CYCLES, AT_ONCE = 500, 4
ACCOUNTS = 8


@pytest.fixture
def unit() -> NetworkUnit:
    return network_unit()


def of(sender: str, **fields: object) -> Packet:
    return frame() / packet(src=sender, **fields) / datagram()


def taken(unit: NetworkUnit, *frames: Packet | bytes) -> int:
    """The datagrams of frames that arrive back to back, at a unit that has nothing else to do."""
    assert unit.work()
    give(unit, *frames)
    return len(unit.datagrams(0))


def most(unit: NetworkUnit, since: int) -> int:
    """Packets that a sender may have sent since a cycle."""
    return AT_ONCE + (unit.unit.unit_cycle - since) // CYCLES


def test_any_rate_is_allowed_after_reset(unit: NetworkUnit) -> None:
    assert taken(unit, *[of(FLOOD)] * 100) == 100
    assert unit.counters()["dropped_rate"] == 0


def test_so_many_packets_at_once_and_then_at_the_rate(unit: NetworkUnit) -> None:
    unit.set_limit(CYCLES, AT_ONCE)
    assert [taken(unit, *[of(FLOOD)] * count) for count in (1, 3, 4, 5, 20)] == [1, 3, 4, 4, 4]
    begin = unit.unit.unit_cycle
    passed = taken(unit, *[of(FLOOD)] * 300)
    assert most(unit, begin) - AT_ONCE - 1 <= passed <= most(unit, begin)
    assert unit.counters()["dropped_rate"] == 33 + 300 - 16 - passed
    unit.set_limit(0)
    assert taken(unit, *[of(FLOOD)] * 20) == 20


@pytest.mark.parametrize("cycles", [0, CYCLES])
def test_a_flood_of_pings_leaves_room_for_the_answers_of_others(unit: NetworkUnit, cycles: int) -> None:
    """The streams send as well, so that answers leave more slowly than pings come."""
    unit.set_limit(cycles, AT_ONCE)
    give(unit, question())
    for number in range(40):
        unit.send(Datagram(PEER, 1, 2, bytes(1400)), number % 2)
    flood = [frame() / packet(src=FLOOD) / ping()] * 60 + [frame() / packet(src=OTHER) / ping()]
    dsts = Counter(one[IP].dst for one in give(unit, *flood * 4) if ICMP in one)
    counters = unit.counters()
    assert dsts[OTHER] == 4 if cycles else dsts[OTHER] < 4
    assert (counters["dropped_full"], counters["dropped_rate"] > 0) == (0, True) if cycles else True
    assert dsts.total() == counters["echoed"]


@pytest.mark.parametrize("cycles", [0, CYCLES])
def test_a_flood_of_fragments_leaves_room_for_those_of_others(unit: NetworkUnit, cycles: int) -> None:
    unit.set_limit(cycles, 2)
    whole = IP(bytes(packet(src=OTHER, id=9) / datagram(bytes(1600))))
    first, last = (frame() / part for part in fragment(whole, 1000))  # type: ignore[no-untyped-call]
    flood = [frame() / packet(src=FLOOD, id=number, flags="MF") / datagram(bytes(16)) for number in range(20)]
    del flood[0].payload.payload.payload
    arrived = taken(unit, flood[1], first, *flood[2:], last)
    assert arrived == (1 if cycles else 0)


def forged(count: int, source: random.Random) -> list[Packet]:
    return [of(f"10.0.0.{source.randrange(20, 200)}") for _ in range(count)]


def test_forged_addresses_neither_end_an_account_nor_pass_more_than_the_table_has(unit: NetworkUnit) -> None:
    """A sender keeps its account while it has a debt; all that have none have one rate together."""
    unit.set_limit(CYCLES, AT_ONCE)
    begin = unit.unit.unit_cycle
    frames = [of(OTHER)] * 3
    for number in range(10):
        frames += [*forged(80, random.Random(number)), of(OTHER)]
    for one in frames:
        unit.receive(bytes(one))
    unit.bench.run(8000)
    assert unit.counters()["received_frames"] == len(frames)
    senders = Counter(one.peer for one in unit.datagrams(0))
    assert senders[OTHER] == 13
    assert ACCOUNTS * AT_ONCE < senders.total() <= (ACCOUNTS + 1) * most(unit, begin)
    counters = unit.counters()
    assert sum(counters[name] for name in ENDINGS) == len(frames)
    assert counters["dropped_rate"] == len(frames) - senders.total()


@pytest.mark.parametrize(
    ("spoil", "counter"),
    [
        (lambda: of(FLOOD, chksum=1), "dropped_checksum"),
        (lambda: of(FLOOD, dst="10.0.0.77"), "dropped_destination"),
        (lambda: of(FLOOD, len=1000), "dropped_length"),
    ],
)
def test_bad_packets_are_not_charged_to_the_address_that_they_have(
    unit: NetworkUnit, spoil: Callable[[], Packet], counter: str
) -> None:
    unit.set_limit(CYCLES, AT_ONCE)
    assert taken(unit, *[spoil()] * 20, *[of(FLOOD)] * 5, *[spoil()] * 2) == AT_ONCE
    counters = unit.counters()
    assert (counters[counter], counters["dropped_rate"]) == (22, 1)


def test_the_same_happens_when_idle_cycles_are_simulated() -> None:
    digests = set()
    for skip_idle in (True, False):
        unit = network_unit(skip_idle=skip_idle)
        unit.set_limit(CYCLES, 2)
        for _ in range(3):
            give(unit, *[of(FLOOD)] * 4, of(OTHER))
            unit.bench.run(5000)
        digests.add(unit.unit.digest)
    assert len(digests) == 1


@pytest.mark.parametrize(("cycles", "at_once"), [(-1, 1), (1 << 32, 1), (1000, 0), (1 << 20, 4098)])
def test_a_limit_that_does_not_fit_is_refused(unit: NetworkUnit, cycles: int, at_once: int) -> None:
    with pytest.raises(RackwrightError, match="the limit of a sender"):
        unit.set_limit(cycles, at_once)
