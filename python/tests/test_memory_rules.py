"""A unit alone is held to the rules of memory: what is under way at once has no order, tags are used once."""

from __future__ import annotations

from pathlib import Path

import pytest

from rackwright import EngineError, Unit

MANIFEST = Path(__file__).parent / "fixtures" / "hasty.json"
WRITE, READ, READ_TWICE, WRITE_TWICE, WRITE_AND_READ = range(5)
BEAT = 16
WRITTEN = b"\x5a" * BEAT


@pytest.fixture
def unit() -> Unit:
    """A unit that keeps none of them."""
    return Unit(MANIFEST)


def test_what_is_written_is_not_there_before_memory_has_answered(unit: Unit) -> None:
    """A unit that says too soon that it is done is found by whoever looks at its result."""
    buffer = unit.reserve(BEAT, "rw")
    unit.query(WRITE, buffer.address)
    assert unit.read(buffer) == bytes(BEAT)
    unit.work()
    assert unit.read(buffer) == WRITTEN


def test_of_two_writes_under_way_the_second_need_not_be_the_last(unit: Unit) -> None:
    buffer = unit.reserve(BEAT, "rw")
    unit.query(WRITE_TWICE, buffer.address)
    unit.work()
    assert unit.read(buffer) == WRITTEN


def test_a_read_of_what_is_being_written_finds_neither(unit: Unit) -> None:
    buffer = unit.reserve(BEAT, "rw")
    found = unit.query(WRITE_AND_READ, buffer.address)
    assert found == 2**64 - 1, "what was there, each bit the other way"
    unit.work()
    assert unit.read(buffer) == WRITTEN


def test_a_tag_that_has_not_been_answered_ends_the_run(unit: Unit) -> None:
    buffer = unit.reserve(BEAT, "r")
    unit.command(READ_TWICE, buffer.address)
    with pytest.raises(EngineError, match=r"`hasty` stopped at .*through `data` with tag 1, which"):
        unit.work()


def test_an_address_within_a_beat_ends_the_run(unit: Unit) -> None:
    buffer = unit.reserve(2 * BEAT, "r")
    unit.command(READ, buffer.address + 8)
    with pytest.raises(EngineError, match=r"`hasty` stopped at .*for 0x.*8, no multiple of 16"):
        unit.work()
