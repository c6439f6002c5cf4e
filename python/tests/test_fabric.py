"""Fabrics that run: packets, rates, latencies, peers, and that nothing is left under way."""

from __future__ import annotations

import json
import random
import zlib
from collections import Counter
from typing import Any

import pytest
from cocotbext.pcie.core.tlp import Tlp  # type: ignore[import-untyped]

from rackwright import EngineError, RackwrightError, _engine
from rackwright.fabric import Card, Credits, PcieLink, PcieSwitch, RootComplex, System
from rackwright.fabric.fabric import Beside, Fabric, Load, Measured, Packet

KINDS = {
    "memory_read": ("MEM_READ", "MEM_READ_64"),
    "memory_write": ("MEM_WRITE", "MEM_WRITE_64"),
    "configuration_read_0": ("CFG_READ_0",),
    "configuration_write_0": ("CFG_WRITE_0",),
    "configuration_read_1": ("CFG_READ_1",),
    "configuration_write_1": ("CFG_WRITE_1",),
    "completion": ("CPL",),
    "completion_with_data": ("CPL_DATA",),
}
"""What the codec calls our kinds."""

STATUSES = {"SC": "successful", "UR": "unsupported", "CRS": "retry", "CA": "aborted"}


def one_link(link: PcieLink, *, payload: int = 256, **root: Any) -> System:
    complex_ = RootComplex(payload_bytes=payload, **root)
    complex_.connect(Card("traffic"), link)
    return System.of(complex_)


def two_cards(link: PcieLink, up: PcieLink) -> System:
    root, switch = RootComplex(), PcieSwitch()
    root.connect(switch, up)
    switch.add_downlinks([Card("traffic"), Card("traffic")], link)
    return System.of(root)


@pytest.fixture(scope="module")
def captured() -> list[Packet]:
    """Packets of reads, writes and register accesses below a switch, with the assertions of the RTL."""
    fabric = Fabric(
        two_cards(PcieLink(gen=4, lanes=8), PcieLink(gen=4, lanes=8)), assertions=True, capture=True
    )
    packets = []
    for test in ("read", "write", "peer", "registers"):
        packets += fabric.measure(test, [64, 1024], Load(count=48)).packets
    return packets


def codec_fields(tlp: Tlp) -> dict[str, Any]:
    """The fields that the codec reads, by our names."""
    fields: dict[str, Any] = {
        "traffic_class": int(tlp.tc),
        "attributes": int(tlp.attr),
        "poisoned": tlp.ep,
        "length_words": tlp.length,
        "requester": str(tlp.requester_id),
        "tag": tlp.tag,
    }
    name = tlp.fmt_type.name
    if name.startswith("CPL"):
        fields |= {
            "completer": str(tlp.completer_id),
            "status": STATUSES[tlp.status.name],
            "byte_count": tlp.byte_count,
            "lower_address": tlp.lower_address,
        }
    elif name.startswith("CFG"):
        fields |= {"target": str(tlp.completer_id), "register": tlp.address}
        fields["byte_enables"] = tlp.last_be << 4 | tlp.first_be
    else:
        fields |= {"address": tlp.address, "byte_enables": tlp.last_be << 4 | tlp.first_be}
    return fields


def test_the_codec_reads_every_packet_to_the_same_fields(captured: list[Packet]) -> None:
    kinds: Counter[str] = Counter()
    for packet in captured:
        tlp = Tlp.unpack(packet.data)
        ours = json.loads(_engine.packet_fields(packet.data))
        kind = ours.pop("kind")
        assert tlp.fmt_type.name in KINDS[kind]
        assert ours == codec_fields(tlp)
        assert bytes(tlp.pack()) == packet.data
        kinds[kind] += 1
    assert kinds.keys() == KINDS.keys() - {"completion"} | kinds.keys() & {"completion"}


def test_packets_are_numbered_and_checked_on_each_link(captured: list[Packet]) -> None:
    following: dict[str, int] = {}
    for packet in captured:
        assert packet.sequence == following.get(packet.port, 0)
        following[packet.port] = (packet.sequence + 1) % 4096
        assert packet.check == zlib.crc32(packet.sequence.to_bytes(2, "big") + packet.data)


def test_reads_ask_for_no_more_than_allowed_and_are_answered_in_parts(captured: list[Packet]) -> None:
    for packet in captured:
        fields = json.loads(_engine.packet_fields(packet.data))
        if fields["kind"] == "memory_read":
            assert 4 * fields["length_words"] <= 512
            assert fields["address"] % 4096 + 4 * fields["length_words"] <= 4096
        elif fields["kind"] in ("completion_with_data", "memory_write"):
            assert 4 * fields["length_words"] <= 256


RATES = {1: 2.5 * 8 / 10, 2: 5 * 8 / 10, 3: 8 * 128 / 130, 4: 16 * 128 / 130, 5: 32 * 128 / 130}
"""Gbit/s of a lane: the specification's transfers a second, times what the encoding leaves of them."""


@pytest.mark.parametrize("payload", [128, 512])
@pytest.mark.parametrize("lanes", [1, 8, 16])
@pytest.mark.parametrize("gen", [1, 2, 3, 4, 5])
def test_writes_have_the_rate_of_the_specification(gen: int, lanes: int, payload: int) -> None:
    if (gen, lanes) == (5, 16):
        pytest.skip("the function takes 16 bytes in a cycle of 2 GHz: half of this link")
    fabric = Fabric(one_link(PcieLink(gen, lanes), payload=payload))
    # A header of three words, framing, sequence number and check: 20 bytes around each payload.
    expected = RATES[gen] * lanes * payload / (payload + 20)
    measured = fabric.measure("write", [payload], Load(count=400)).rows[0]
    assert measured["gigabits_per_second"] == pytest.approx(expected, rel=0.002)


def test_a_latency_is_the_sum_of_its_parts() -> None:
    link = PcieLink(gen=3, lanes=8, delay_ns=40)
    row = Fabric(one_link(link, latency_ns=100)).measure("latency", [64]).rows[0]
    parts = row["parts"]
    assert sum(parts.values()) == pytest.approx(row["median_ns"], abs=1)
    # Twice through the root complex; a request of 20 bytes and a completion of 84, each with the delay.
    assert parts["root"] == pytest.approx(200)
    byte = 130 / 128 / 8
    assert parts["link"] == pytest.approx((12 + 8 + 12 + 64 + 8) * byte + 2 * 40, rel=1e-6)
    assert parts["queue"] == 0


def test_a_switch_adds_its_latency_and_no_second_wire() -> None:
    link = PcieLink(gen=3, lanes=8)
    alone = Fabric(one_link(link)).measure("latency", [64]).rows[0]
    below = Fabric(two_cards(link, link)).measure("latency", [64]).rows[0]
    parts = below["parts"]
    assert parts["switch"] == pytest.approx(220)
    # Of each further link, the delay and the front of the packet.
    further = below["median_ns"] - alone["median_ns"] - parts["switch"]
    assert further == pytest.approx(2 * 25 + 2 * 16 * 130 / 128 / 8, abs=2)


def test_windows_of_bridges_hold_those_below_and_no_others() -> None:
    link = PcieLink(gen=3, lanes=8)
    root, first, second = RootComplex(), PcieSwitch(), PcieSwitch()
    root.connect(Card("traffic", model=True), link)
    root.connect(first, link)
    first.add_downlinks([Card("traffic", model=True), second], link)
    second.add_downlinks([Card("traffic", model=True) for _ in range(3)], link)
    fabric = Fabric(System.of(root))
    assert [card["id"] for card in fabric.found] == ["01:00.0", "04:00.0", "07:00.0", "08:00.0", "09:00.0"]
    bridges = fabric.bridges
    assert [each["id"] for each in bridges if each["kind"] == "root port"] == ["00:00.0", "00:01.0"]
    spans = {each["id"]: range(each["secondary_bus"], each["subordinate_bus"] + 1) for each in bridges}
    assert spans["00:01.0"] == range(2, 10)
    for card in fabric.found:
        bus = int(card["id"][:2], 16)
        for window in card["windows"]:
            holds = [
                each["id"]
                for each in bridges
                if each["window"]["address"] <= window["address"]
                and window["address"] + window["bytes"] <= each["window"]["address"] + each["window"]["bytes"]
            ]
            assert holds == [name for name, span in spans.items() if bus in span]
    (rows, *_), counters = fabric.measure("peer", [256], Load(count=20)).rows, fabric._fabric.counters()
    assert rows["path"] == "traffic0 -> traffic1"
    assert counters["unsupported_requests"] == 0


def counted(measured: Measured, port: str) -> dict[str, Any]:
    return next(each for each in measured.ports if each["port"] == port)


def test_peers_have_the_rate_of_their_link_and_no_byte_goes_up() -> None:
    fabric = Fabric(two_cards(PcieLink(gen=4, lanes=8), PcieLink(gen=1, lanes=1)))
    before = counted(fabric.measure("registers", load=Load(count=2)), "switch0->root")
    measured = fabric.measure("peer", [2048], Load(count=200))
    after = counted(measured, "switch0->root")
    assert after["classes"]["posted"] == before["classes"]["posted"]
    limit = RATES[4] * 8 * 256 / (256 + 24)
    for row in measured.rows:
        assert row["gigabits_per_second"] >= 0.95 * limit
    assert measured.counters["receiver_overflows"] == 0


def test_a_run_ends_with_all_credits_and_the_same_digest() -> None:
    digests = set()
    for _ in range(2):
        fabric = Fabric(one_link(PcieLink(gen=3, lanes=4)))
        digests.add(fabric.measure("read", [256, 4096], Load(count=100)).digest)
        assert fabric._fabric.is_quiet
    assert len(digests) == 1


def test_few_credits_stall_and_lose_nothing() -> None:
    credits = Credits(posted=(2, 32), non_posted=(1, 1), completion=None)
    fabric = Fabric(one_link(PcieLink(gen=3, lanes=8), credits=credits))
    measured = fabric.measure("write", [1024], Load(count=100))
    full = RATES[3] * 8 * 256 / (256 + 20)
    assert measured.rows[0]["gigabits_per_second"] < 0.6 * full
    assert measured.counters["traffic0.credit_stall"] > 0
    fabric.measure("read", [1024], Load(count=100))
    assert fabric._fabric.is_quiet


def test_accesses_outside_of_windows_are_refused() -> None:
    fabric = Fabric(one_link(PcieLink(gen=3, lanes=8)))
    with pytest.raises(EngineError, match="requests are a power of two from 16"):
        fabric.measure("read", [24])


def test_what_was_read_is_copied_after_it_has_come() -> None:
    plain = Fabric(one_link(PcieLink(gen=3, lanes=8))).measure("latency", [1024]).rows[0]
    copied = Fabric(one_link(PcieLink(gen=3, lanes=8))).measure("latency", [1024], Load(copy=4)).rows[0]
    # 64 beats, each for 4 cycles of 0.5 ns.
    assert copied["median_ns"] - plain["median_ns"] == pytest.approx(64 * 4 * 0.5, abs=1)
    whole = (
        Fabric(one_link(PcieLink(gen=3, lanes=8))).measure("read", [1024], Load(copy=8, count=300)).rows[0]
    )
    assert whole["gigabits_per_second"] == pytest.approx(8 * 16 / (8 * 0.5), rel=0.01)


def test_a_card_that_reads_delays_its_neighbour_in_the_queue_of_their_port() -> None:
    link = PcieLink(gen=3, lanes=8)
    digests = set()
    for _ in range(2):
        fabric = Fabric(two_cards(link, link))
        (row,) = fabric.measure("latency", [64], Load(count=40), Beside("traffic1", 512, 32)).rows
        assert row["path"] == "root -> traffic0"
        digests.add(fabric._fabric.digest)
        assert fabric._fabric.is_quiet
    assert len(digests) == 1
    (alone, _) = Fabric(two_cards(link, link)).measure("latency", [64], Load(count=40)).rows
    rise = row["median_ns"] - alone["median_ns"]
    # Of 32 completed reads, some are on their way up or in memory, and not in the queue.
    assert 0.5 * 32 * 512 / (RATES[3] * 8 / 8) < rise < 1.1 * 32 * 512 / (RATES[3] * 8 / 8)
    assert row["parts"]["queue"] - alone["parts"]["queue"] == pytest.approx(rise, rel=0.02)


def test_a_card_beside_is_another_one() -> None:
    link = PcieLink(gen=3, lanes=8)
    with pytest.raises(RackwrightError, match="no card is called gpu; there are traffic0, traffic1"):
        Fabric(two_cards(link, link)).measure("read", [64], beside=Beside("gpu"))
    with pytest.raises(RackwrightError, match="DMA of another card is measured"):
        Fabric(one_link(link)).measure("read", [64], beside=Beside("traffic0"))
    with pytest.raises(EngineError, match="requests are a power of two from 16"):
        Fabric(two_cards(link, link)).measure("read", [64], Load(count=2), Beside("traffic1", size=24))


TINY = Credits(posted=(2, 32), non_posted=(1, 1), completion=None)

MODELLED = [
    pytest.param("registers", 8, Load(count=10), {}, id="registers"),
    pytest.param("latency", 2048, Load(count=10, copy=3), {}, id="latency"),
    pytest.param("read", 64, Load(count=200), {}, id="short-reads"),
    pytest.param("read", 1024, Load(count=60, copy=5, interval=7), {}, id="copied-reads"),
    pytest.param("write", 2048, Load(count=60, copy=2), {}, id="copied-writes"),
    pytest.param("write", 256, Load(count=60, interval=30), {"credits": TINY}, id="writes-few-credits"),
    pytest.param("read", 512, Load(count=60, outstanding=3), {"credits": TINY}, id="reads-few-credits"),
    pytest.param("peer", 256, Load(count=60), {}, id="peer"),
]


@pytest.mark.parametrize(("test", "size", "load", "root"), MODELLED)
def test_the_model_of_traffic_sends_the_same_packets_at_the_same_times(
    test: str, size: int, load: Load, root: dict[str, Any]
) -> None:
    link = PcieLink(gen=3, lanes=8)

    def run(model: bool) -> Measured:
        complex_, switch = RootComplex(**root), PcieSwitch()
        complex_.connect(switch, link)
        switch.add_downlinks([Card("traffic", model=model), Card("traffic", model=model)], link)
        return Fabric(System.of(complex_)).measure(test, [size], load)

    rtl, model = run(False), run(True)
    # The host goes on when all is quiet, seen some nanoseconds earlier or later: the first card is compared.
    assert model.rows[0] == rtl.rows[0]
    assert model.packet_hops == rtl.packet_hops
    assert model.ports[0]["classes"] == rtl.ports[0]["classes"]


@pytest.mark.parametrize("seed", [1, 2, pytest.param(3, marks=pytest.mark.long("further draws of the same"))])
def test_random_runs_of_the_model_have_the_digest_of_the_rtl(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(4):
        link = PcieLink(draw.choice([2, 3, 4]), draw.choice([2, 8, 16]), delay_ns=draw.uniform(5, 60))
        test, size = draw.choice(["read", "write", "latency"]), 1 << draw.randrange(4, 13)
        load = Load(draw.randrange(1, 80), draw.randrange(1, 40), draw.randrange(6), count=60)
        digests = set()
        for model in (False, True):
            root = RootComplex(latency_ns=100)
            root.connect(Card("traffic", model=model), link)
            digests.add(Fabric(System.of(root)).measure(test, [size], load).digest)
        assert len(digests) == 1, (link, test, size, load)


def test_only_traffic_is_there_as_a_model() -> None:
    with pytest.raises(RackwrightError, match="only `traffic` has a model, not snappy"):
        Card("snappy", model=True)
