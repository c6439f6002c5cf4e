"""The crossbar in RTL: whose packets pass, in which order, and when.

Tests `litmus` of the crate `machine` have it as the interconnect between harts, units and memory.
"""

from __future__ import annotations

import pytest

from rackwright._engine import UnitBench
from rackwright.cli.test import CROSSBAR
from rackwright.hardware.designs import design

Frames = dict[str, list[tuple[int, int, bytes]]]
"""Of each port: cycles of the first and the last flit, bytes."""


@pytest.fixture
def bench() -> UnitBench:
    return UnitBench(design("crossbar", CROSSBAR, assertions=True))


def packet(to: int, own: bytes, flits: int = 1) -> bytes:
    """As it is sent: the source is still to be written."""
    return bytes([to, 0xAA]) + own.ljust(6, b".") + b"".join(b"flit %03d" % each for each in range(1, flits))


def signed(frame: bytes, source: int) -> bytes:
    return frame[:1] + bytes([source]) + frame[2:]


def left(bench: UnitBench) -> Frames:
    assert bench.run_until_idle(1000)
    frames: Frames = {}
    for port, first, last, frame in bench.frames_by_port():
        frames.setdefault(port, []).append((first, last, frame))
    return frames


def test_a_packet_alone_takes_two_cycles_and_gets_its_source(bench: UnitBench) -> None:
    for source, to in ((0, 4), (3, 3), (4, 0)):
        sent, at = packet(to, b"mine", 3), bench.cycle
        bench.deliver(sent, at=at, port=f"in_{source}")
        assert left(bench) == {f"out_{to}": [(at + 2, at + 4, signed(sent, source))]}


def test_packets_to_one_port_take_turns_whole_and_others_pass(bench: UnitBench) -> None:
    """Three inputs send two packets each to port 1; meanwhile, port 4 sends to port 0."""
    for source in (0, 2, 3):
        for number in range(2):
            bench.deliver(packet(1, b"no %d" % number, 4), at=4 * number, port=f"in_{source}")
    aside = packet(0, b"aside", 4)
    bench.deliver(aside, at=0, port="in_4")
    frames = left(bench)
    assert frames["out_0"] == [(2, 5, signed(aside, 4))]
    arrived = [frame for _, _, frame in frames["out_1"]]
    assert [frame[1] for frame in arrived] == [2, 3, 0] * 2
    assert [frame[2:6] for frame in arrived] == [b"no 0"] * 3 + [b"no 1"] * 3
    assert all(frame == signed(packet(1, frame[2:6], 4), frame[1]) for frame in arrived)
    spans = [(first, last) for first, last, _ in frames["out_1"]]
    assert spans == [(2 + 4 * turn, 5 + 4 * turn) for turn in range(6)], "one flit each cycle"
    events = bench.events()
    assert (events["flits_in"], events["flits_out"], events["refused"]) == (28, 28, 0)
    assert events["waits"] > 0


def test_a_packet_to_nowhere_is_dropped_and_counted(bench: UnitBench) -> None:
    bench.deliver(packet(5, b"lost", 3), at=0, port="in_1")
    after = packet(2, b"after", 2)
    bench.deliver(after, at=3, port="in_1")
    assert left(bench) == {"out_2": [(5, 6, signed(after, 1))]}
    assert bench.events()["refused"] == 1
