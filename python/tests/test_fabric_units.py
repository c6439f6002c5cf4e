"""Units of ours on cards: calls that cross the fabric, what they write, and cards that cannot be."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bootstrap.paths import REPOSITORY
from rackwright import EngineError, RackwrightError, _engine
from rackwright.compression import libsnappy
from rackwright.fabric import Card, Credits, PcieLink, PcieSwitch, RootComplex, System, load_system
from rackwright.fabric.card_unit import Place
from rackwright.fabric.fabric import Fabric, Load

PARAMETERS = {"history-kib": 16}
"""As other tests have the unit behind registers."""


def one_card(link: PcieLink, *, capture: bool = False, **root: Any) -> Fabric:
    complex_ = RootComplex(**root)
    complex_.connect(Card("snappy-decompress", "card", parameters=PARAMETERS), link)
    return Fabric(System.of(complex_), capture=capture)


def text(size: int, seed: int) -> bytes:
    """Words of few letters, so that there are copies of all lengths and distances."""
    draw = random.Random(seed)
    words = [bytes(draw.choices(b"abcdefghij ", k=draw.randrange(2, 12))) for _ in range(200)]
    return b"".join(draw.choices(words, k=size // 5))[:size]


@pytest.mark.parametrize(
    ("link", "root"),
    [
        pytest.param(PcieLink(gen=4, lanes=16), {}, id="fast"),
        pytest.param(PcieLink(gen=1, lanes=1), {"payload_bytes": 128}, id="slow"),
        pytest.param(
            PcieLink(gen=3, lanes=8),
            {"credits": Credits(posted=(2, 32), non_posted=(1, 1), completion=None)},
            id="few-credits",
        ),
    ],
)
def test_a_unit_on_a_card_writes_what_the_library_does_and_nothing_else(
    link: PcieLink, root: dict[str, Any]
) -> None:
    digests = set()
    for _ in range(2):
        fabric = one_card(link, **root)
        unit = fabric.unit("card")
        for seed, size in enumerate((0, 1, 100, 3000, 20000)):
            plain = text(size, seed)
            # What is behind the output stays as it is.
            fabric._fabric.write_memory(0x0800_0000 + size, b"\x5a" * 64)
            done = unit.run(libsnappy.compress(plain), size)
            assert (done.status, done.output) == ("ok", plain)
            assert fabric._fabric.read_memory(0x0800_0000 + size, 64) == b"\x5a" * 64
            assert fabric._fabric.is_quiet
        digests.add(fabric.digest)
        assert {name: fabric._fabric.counters()[name] for name in REJECTED} == dict.fromkeys(REJECTED, 0)
    assert len(digests) == 1


REJECTED = ("unsupported_requests", "unexpected_completions", "malformed_packets", "receiver_overflows")


def test_what_a_unit_is_told_and_says_of_errors_crosses_the_fabric() -> None:
    fabric = one_card(PcieLink(gen=4, lanes=8))
    unit = fabric.unit("card")
    plain = text(5000, 7)
    packed = libsnappy.compress(plain)
    assert unit.run(packed[:-3], 5000).status == "malformed"
    assert unit.run(packed, 4999).status == "output_full"
    # Further back than the history of 4 KiB that is set, copies are read from the output itself.
    far = text(4000, 8) + bytes(6000) + text(4000, 8)
    unit.set("on_chip_history", 4096)
    before = fabric._fabric.counters()["card.dma_reads"]
    done = unit.run(libsnappy.compress(far), len(far))
    assert done.output == far
    assert fabric._fabric.counters()["card.dma_reads"] > before
    with pytest.raises(RackwrightError, match="the unit has no command fly; there are "):
        unit.set("fly", 1)


def test_memory_that_is_not_there_is_a_fault_of_the_unit() -> None:
    fabric = one_card(PcieLink(gen=4, lanes=8))
    unit = fabric.unit("card")
    writes = [
        *unit._command("src", 0x2000_0000, 100),
        *unit._command("limit", 4096, 0x40_0000),
        *unit._command("dest_and_start", 0x800_0000, 0x40_0040),
    ]
    fabric._fabric.call(0, writes, 0x40_0040)
    assert int.from_bytes(fabric._fabric.read_memory(0x40_0040, 8), "little") == 1 + 4
    assert fabric._fabric.counters()["unsupported_requests"] > 0


def test_packets_of_a_unit_are_as_long_as_what_waits_and_no_longer_than_allowed() -> None:
    fabric = one_card(PcieLink(gen=1, lanes=8), capture=True, payload_bytes=128, read_request_bytes=256)
    plain = text(30000, 9)
    unit = fabric.unit("card")
    assert unit.run(libsnappy.compress(plain), len(plain)).output == plain
    lengths: dict[str, Counter[int]] = {"memory_read": Counter(), "memory_write": Counter()}
    for packet in fabric._packets():
        fields = json.loads(_engine.packet_fields(packet.data))
        if fields["kind"] in lengths and packet.port == "card->root":
            lengths[fields["kind"]][4 * fields["length_words"]] += 1
    # A slow link has writes wait for each other: most packets are full.
    assert max(lengths["memory_write"]) == 128
    assert lengths["memory_write"][128] > 0.6 * len(plain) / 128
    assert 32 < max(lengths["memory_read"]) <= 256


def test_a_latency_of_the_root_complex_is_waited_for_at_each_end_of_a_call() -> None:
    packed = libsnappy.compress(b"a" * 100)
    near, far = (
        one_card(PcieLink(gen=4, lanes=16), latency_ns=root).unit("card").run(packed, 100)
        for root in (60, 160)
    )
    assert far.parts["root"] == pytest.approx(near.parts["root"] + 200)
    # The command, the input there and back, the flag: each in one direction.
    waits = (far.nanoseconds - near.nanoseconds) / 100
    assert waits == pytest.approx(4, abs=0.1)


def test_units_stand_beside_cards_that_make_dma() -> None:
    root, switch = RootComplex(), PcieSwitch()
    root.connect(switch, PcieLink(gen=3, lanes=8))
    cards = [Card("snappy-decompress", "unit", parameters=PARAMETERS), Card("traffic", model=True)]
    switch.add_downlinks(cards, PcieLink(gen=3, lanes=8))
    fabric = Fabric(System.of(root))
    rows = fabric.measure("read", [256], Load(count=64)).rows
    assert [row["path"] for row in rows] == ["root -> traffic0"]
    plain = text(3000, 3)
    assert fabric.unit("unit").run(libsnappy.compress(plain), 3000).output == plain
    with pytest.raises(RackwrightError, match="a peer is a second card traffic, or one with memory"):
        fabric.measure("peer", [256])
    with pytest.raises(EngineError, match="card unit: it is not the unit `traffic`, and makes no DMA"):
        fabric._fabric.bench("read", 64, 0, None, 4, 1, 1, 0, True)
    with pytest.raises(RackwrightError, match="no card traffic0 has a unit with commands; there are unit"):
        fabric.unit("traffic0")


@pytest.fixture
def with_memory() -> Fabric:
    """The unit on a card with memory, beside one that makes DMA."""
    return Fabric(load_system(REPOSITORY / "examples" / "fabric" / "units.py"))


def test_a_unit_reads_and_writes_memory_of_its_card(with_memory: Fabric) -> None:
    unit, engine = with_memory.unit("snappy"), with_memory._fabric
    window = with_memory.found[0]["windows"][1]
    assert (window["bytes"], window["prefetchable"]) == (8 << 30, True)
    # Shorter than the history of the unit, which reads no output then.
    plain = text(12000, 5)
    packed = libsnappy.compress(plain)
    places: list[tuple[Place, Place]] = [
        ("host", "host"),
        ("card", "host"),
        ("host", "card"),
        ("card", "card"),
    ]
    sent = 0
    for source, target in places:
        before = engine.counters()
        done = unit.run(packed, len(plain), source=source, target=target)
        assert (done.status, done.output) == ("ok", plain)
        assert with_memory._fabric.is_quiet
        changed = {name: count - before[name] for name, count in engine.counters().items()}
        assert (changed["snappy.dma_reads"] > 0) == (source == "host")
        assert (changed["snappy.memory_reads"] > 0) == (source == "card")
        assert (changed["snappy.memory_writes"] > 0) == (target == "card")
        posted = json.loads(engine.ports())
        [now] = [
            port["classes"]["posted"]["payload_bytes"] for port in posted if port["port"] == "snappy->switch0"
        ]
        # The flag and the record of the call, in a packet each, and the output if it is in the host's memory.
        assert now - sent == 8 + 16 + (len(plain) if target == "host" else 0)
        sent = now
        assert {name: engine.counters()[name] for name in REJECTED} == dict.fromkeys(REJECTED, 0)


def test_a_card_writes_memory_of_another_one_at_the_rate_of_the_link(with_memory: Fabric) -> None:
    result = with_memory.measure("peer", [512], Load(count=2048))
    [row] = result.rows
    assert row["path"] == "traffic0 -> snappy"
    # Memory takes 25.6 GB/s, less than a link of generation 4 with 16 lanes.
    assert 0.8 * 8 * 25.6 < row["gigabits_per_second"] < 8 * 25.6
    posted = {port["port"]: port["classes"]["posted"]["payload_bytes"] for port in result.ports}
    assert (posted["traffic0->switch0"], posted["switch0->root"]) == (2048 * 512, 0)
    assert result.counters["snappy.window_writes"] == 2048 * 512 // 256


def test_designs_of_users_that_cannot_be_on_a_card_are_refused(tmp_path: Path) -> None:
    def alone(manifest: Path) -> System:
        root = RootComplex()
        root.connect(Card(manifest), PcieLink(gen=4, lanes=8))
        return System.of(root)

    own = REPOSITORY / "examples" / "bring-your-own" / "systemverilog" / "manifest.json"
    with pytest.raises(EngineError, match="`population-count` has the port `command`, which leads nowhere"):
        Fabric(alone(own))
    with pytest.raises(RackwrightError, match=r"none\.json: no such manifest"):
        alone(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: Card("traffic", memory="8GiB"), "a card with `traffic` takes no memory: only units"),
        (lambda: Card("snappy-decompress", memory="8 GB"), "'8 GB' is no size of memory"),
        (lambda: in_a_system("6GiB"), "card0: the memory of a card is a power of two from 1 MiB on, not 64"),
        (lambda: in_a_system("512KiB"), "card0: the memory of a card is a power of two from 1 MiB on"),
        (
            lambda: in_a_system("256GiB", "256GiB", "256GiB"),
            "card2: its window of 274877906944 bytes doesn't fit into the 1 TiB of the host bridge",
        ),
    ],
)
def test_memory_that_cannot_be_on_a_card_is_refused(make: Callable[[], object], reason: str) -> None:
    with pytest.raises(RackwrightError, match=re.escape(reason)):
        make()


def in_a_system(*sizes: str) -> System:
    root = RootComplex()
    cards = [Card("snappy-decompress", f"card{number}", memory=size) for number, size in enumerate(sizes)]
    root.add_downlinks(cards, PcieLink(gen=4, lanes=8))
    return System.of(root)


def test_what_cannot_be_on_a_card_is_refused() -> None:
    with pytest.raises(RackwrightError, match="the fabric has no card traffic, which measures it"):
        one_card(PcieLink(gen=4, lanes=8)).measure("read", [64])
    fabric = one_card(PcieLink(gen=4, lanes=8))
    with pytest.raises(RackwrightError, match="the host has room for 67108864 bytes of input"):
        fabric.unit("card").run(b"", 1 << 30)
    with pytest.raises(RackwrightError, match="the card has no memory: `memory` of `Card` is its size"):
        fabric.unit("card").run(b"", 0, target="card")
