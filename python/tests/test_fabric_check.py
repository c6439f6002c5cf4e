"""What is no fabric is refused in one line with a witness, before anything runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from rackwright import RackwrightError
from rackwright.fabric import Card, Credits, PcieLink, PcieSwitch, RootComplex, System, load_system
from rackwright.fabric.check import the_root
from rackwright.fabric.drawing import svg

LINK = PcieLink(gen=3, lanes=8)


def looped() -> System:
    root, one, other = RootComplex(), PcieSwitch("one"), PcieSwitch("other")
    root.connect(one, LINK)
    one.connect(other, LINK)
    other.connect(one, LINK)
    return System.of(root)


def joined_twice() -> System:
    root, one, other, card = RootComplex(), PcieSwitch("one"), PcieSwitch("other"), Card("traffic", "shared")
    root.add_downlinks([one, other], LINK)
    one.connect(card, LINK)
    other.connect(card, LINK)
    return System.of(root)


def two_roots() -> System:
    roots = [RootComplex("left"), RootComplex("right")]
    for root in roots:
        root.connect(Card("traffic"), LINK)
    return System.of(the_root(roots))


def unequal() -> System:
    root = RootComplex(payload_bytes=256)
    root.connect(Card("traffic", "small", payload_bytes=128), LINK)
    return System.of(root)


def without_credits() -> System:
    root = RootComplex(credits=Credits(posted=(0, 0)))
    root.connect(Card("traffic"), LINK)
    return System.of(root)


def with_few_credits() -> System:
    root, switch = RootComplex(), PcieSwitch(credits=Credits(posted=(4, 15)))
    root.connect(switch, LINK)
    switch.connect(Card("traffic"), LINK)
    return System.of(root)


def equal_names() -> System:
    root = RootComplex()
    root.add_downlinks([Card("traffic", "a"), Card("traffic", "a")], LINK)
    return System.of(root)


def nothing_below() -> System:
    return System.of(RootComplex())


def below_a_card() -> System:
    root, card = RootComplex(), Card("traffic", "top")
    root.connect(card, LINK)
    card.connect(Card("traffic", "under"), LINK)
    return System.of(root)


@pytest.mark.parametrize(
    ("build", "witness"),
    [
        (looped, "the fabric has a loop: one - other - one"),
        (joined_twice, "shared has two links to the root: below one and other"),
        (two_roots, "the fabric has two roots: left above a card traffic and right above a card traffic"),
        (unequal, "unequal payloads: root sends 256 bytes, and small takes 128"),
        (without_credits, "root: posted has zero credits"),
        (with_few_credits, "switch0: posted has 15 data credits, and one packet of 256 bytes needs 16"),
        (equal_names, "two nodes are called a: a card and card"),
        (nothing_below, "the fabric has no card"),
        (below_a_card, "under is below top, which is a card"),
        (lambda: PcieLink(gen=6, lanes=8), "a link is of generation 1 to 5, not 6"),
        (lambda: PcieLink(gen=3, lanes=3), "a link has 1, 2, 4, 8 or 16 lanes, not 3"),
    ],
)
def test_what_is_illegal_has_a_witness(build: Callable[[], object], witness: str) -> None:
    with pytest.raises(RackwrightError) as error:
        build()
    assert witness in str(error.value)
    assert "\n" not in str(error.value)


def test_a_script_is_named_with_what_is_wrong_in_it(tmp_path: Path) -> None:
    script = tmp_path / "system.py"
    script.write_text("from rackwright.fabric import RootComplex\nroot = RootComplex(payload_bytes=100)\n")
    with pytest.raises(RackwrightError, match=f"{script}: root: payloads are one of"):
        load_system(script)
    script.write_text("1 / 0\n")
    with pytest.raises(RackwrightError, match="ZeroDivisionError"):
        load_system(script)


def test_a_drawing_has_every_node_and_link() -> None:
    root, switch = RootComplex("host"), PcieSwitch("spread")
    root.connect(switch, PcieLink(gen=4, lanes=8))
    switch.add_downlinks([Card("traffic", "one"), Card("traffic", "two")], PcieLink(gen=5, lanes=4))
    drawing = svg(System.of(root), [{"name": "one", "id": "03:00.0"}])
    for text in ("host", "spread", "one", "two", "03:00.0", "Gen 4 x8", "Gen 5 x4"):
        assert f">{text}<" in drawing
    # One box in the middle of each of two rows, and two side by side below them.
    boxes = [
        tuple(map(float, box))
        for box in re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"', drawing)
    ]
    (x, y, width), switch_box, one, two = boxes
    middle = x + width / 2
    assert switch_box[0] == x
    assert y < switch_box[1] < one[1] == two[1]
    assert one[0] + one[2] < middle < two[0]
    assert middle - (one[0] + one[2] / 2) == pytest.approx(two[0] + two[2] / 2 - middle, abs=0.2)


def test_completions_may_carry_64_bytes_to_the_longest_payload() -> None:
    for count in (64, 192, 256):
        root = RootComplex(payload_bytes=256, completion_bytes=count)
        root.connect(Card("traffic"), LINK)
        System.of(root)
    for count in (32, 100, 320):
        root = RootComplex(payload_bytes=256, completion_bytes=count)
        root.connect(Card("traffic"), LINK)
        with pytest.raises(RackwrightError, match="a multiple of 64 bytes up to 256"):
            System.of(root)
