"""The copy unit: the streaming loader and writer, the command router and the adapters, alone."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import long

from rackwright import Buffer, Unit, elaborate
from rackwright.unit.commands import CHECK_COMPLETION, OUTPUT_BYTES, VERSION, operate, start, wait
from rackwright.unit.config import UnitConfig

HUNG = 10_000_000
NOISE = random.Random(3).randbytes(100_000)


@pytest.fixture(
    scope="module",
    params=[
        "port of 32",
        "wide inside",
        "few outstanding",
        "axi4",
        "mmio",
        long("port of 16", why="so has the one that is wide inside"),
        long("narrow inside", why="units of formats have such streams"),
    ],
)
def unit(request: pytest.FixtureRequest) -> Unit:
    """The unit in each of its shapes."""
    if request.param == "axi4":
        return Unit(elaborate("stream-copy", memory="axi4"))
    if request.param == "mmio":
        return Unit(UnitConfig("stream-copy", command="mmio"))
    shapes = {
        "port of 32": {},
        "port of 16": {"port-bytes": 16},
        "wide inside": {"port-bytes": 16, "stream-bytes": 64},
        "narrow inside": {"stream-bytes": 16},
        "few outstanding": {"outstanding": 4, "command-queue": 1},
    }
    return Unit(UnitConfig("stream-copy", shapes[request.param]), assertions=True)


def copies(unit: Unit, length: int, source_offset: int, target_offset: int) -> None:
    """A copy is exact, and nothing else is touched."""
    unit.release_all()
    data = NOISE[:length]
    source = unit.load(data, misalignment=source_offset)
    target = unit.reserve(length, misalignment=target_offset)
    ended = operate(unit, source, target, max_cycles=HUNG)
    assert (ended.status, ended.output_bytes, ended.input_offset) == ("ok", length, length)
    assert unit.read(target) == data
    assert unit.violations == 0


@pytest.mark.parametrize("length", [0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 4096, 100_000])
def test_every_length(unit: Unit, length: int) -> None:
    copies(unit, length, 0, 0)
    copies(unit, length, 7, 29)


@given(length=st.integers(0, 300), source_offset=st.integers(0, 63), target_offset=st.integers(0, 63))
def test_any_alignment(unit: Unit, length: int, source_offset: int, target_offset: int) -> None:
    copies(unit, length, source_offset, target_offset)


@pytest.mark.parametrize("width", [long(16, why="a design for nothing else"), 32])
def test_a_beat_in_almost_every_cycle(width: int) -> None:
    """With memory that keeps up, the unit is not what limits a long copy."""
    unit = Unit(UnitConfig("stream-copy", {"port-bytes": width}))
    source = unit.load(NOISE)
    target = unit.reserve(len(NOISE))
    for buffer in (source, target):
        unit.bench.warm(buffer.address, buffer.length, "l2")
    operate(unit, source, target, max_cycles=HUNG)
    assert unit.cycle < 1.1 * len(NOISE) / width


@pytest.mark.parametrize("room", [0, 1, 31, 32, 33, 999])
def test_too_little_room(unit: Unit, room: int) -> None:
    unit.release_all()
    source = unit.load(NOISE[:1000])
    target = unit.reserve(room, misalignment=5)
    ended = operate(unit, source, target, max_cycles=HUNG)
    assert ended.status == "output_full"
    assert ended.output_bytes <= room
    assert unit.violations == 0


def test_faults_end_in_a_status(unit: Unit) -> None:
    for position in (0, 500, 999):
        unit.release_all()
        source = unit.load(NOISE[:1000])
        target = unit.reserve(1000)
        unit.bench.fault(source.address + position, 1)
        assert operate(unit, source, target, max_cycles=HUNG).status == "access_fault"
    wrapping = Buffer(2**64 - 10, 20)
    assert operate(unit, wrapping, target, max_cycles=HUNG).status == "access_fault"
    assert operate(unit, source, wrapping, max_cycles=HUNG).status == "access_fault"
    assert unit.violations == 0


def test_more_operations_than_the_queue_holds(unit: Unit) -> None:
    unit.release_all()
    source = unit.load(NOISE[:2000])
    targets = [unit.reserve(2000, misalignment=i) for i in range(12)]
    records = [unit.reserve(16) for _ in targets]
    before = unit.query(CHECK_COMPLETION)
    for target, record in zip(targets, records, strict=True):
        start(unit, source, target, record.address)
    assert wait(unit, HUNG).status == "ok"
    assert unit.query(CHECK_COMPLETION) == before + len(targets)
    assert all(unit.read(target) == NOISE[:2000] for target in targets)
    assert all(unit.read(record)[0] == 1 for record in records)


def test_queries_do_not_wait(unit: Unit) -> None:
    assert unit.query(VERSION, max_cycles=1000) == 1
    assert unit.query(OUTPUT_BYTES, max_cycles=1000) >= 0


def test_a_record_that_cannot_be_written_is_a_fault(unit: Unit) -> None:
    unit.release_all()
    source, target, record = unit.load(NOISE[:100]), unit.reserve(100), unit.reserve(16)
    unit.bench.fault(record.address, 16)
    assert operate(unit, source, target, record.address, max_cycles=HUNG).status == "access_fault"
