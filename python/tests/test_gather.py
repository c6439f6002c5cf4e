"""The gather unit in RTL: elements by any indices against those of a list."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackwright import Unit

NONE, FAULT, MISSING, UNSUPPORTED = range(4)
PIECE = 8


@pytest.fixture(scope="module")
def unit() -> Iterator[Unit]:
    """The unit as it is built by default; it must not have touched what is not its."""
    unit = Unit("gather", check_idle=True, assertions=True)
    yield unit
    unit.query("stop")
    assert unit.violations == 0


def pieces(element: bytes) -> list[int]:
    """What is answered for an element."""
    return [int.from_bytes(element[at : at + PIECE], "little") for at in range(0, len(element), PIECE)]


def place(unit: Unit, elements: list[bytes], index_bytes: int) -> None:
    """Puts a table into memory and describes it."""
    table = unit.load(b"".join(elements))
    unit.command("table", table.address, len(elements[0]) | index_bytes << 8)


def ask(unit: Unit, command: str, indices: list[int], index_bytes: int, misalignment: int = 0) -> None:
    """Gives a sequence of indices."""
    data = b"".join(index.to_bytes(index_bytes, "little") for index in indices)
    unit.command(command, unit.load(data, misalignment=misalignment).address, len(indices))


@given(
    shift=st.integers(0, 5),
    index_bytes=st.sampled_from([4, 8]),
    misalignment=st.integers(0, 40),
    count=st.integers(1, 3000),
    seed=st.integers(0, 2**32),
    lengths=st.lists(st.integers(0, 90), min_size=1, max_size=4),
)
def test_any_indices(
    unit: Unit, shift: int, index_bytes: int, misalignment: int, count: int, seed: int, lengths: list[int]
) -> None:
    source = random.Random(seed)
    unit.release_all()
    elements = [source.randbytes(1 << shift) for _ in range(count)]
    place(unit, elements, index_bytes)
    chosen = [[source.randrange(count) for _ in range(length)] for length in lengths]
    for indices in chosen:
        ask(unit, "gather", indices, index_bytes, misalignment)
    for indices in chosen:
        for index in indices:
            assert [unit.query("next") for _ in pieces(elements[index])] == pieces(elements[index])
    assert unit.query("problem") == NONE


def test_elements_come_faster_than_memory_answers_one(unit: Unit) -> None:
    unit.release_all()
    elements = [number.to_bytes(8, "little") for number in range(50_000)]
    indices = random.Random(3).sample(range(50_000), 1000)
    place(unit, elements, 4)
    ask(unit, "gather", indices, 4)
    before = unit.cycle
    assert [unit.query("next") for _ in indices] == indices
    # One access to a closed row of DRAM takes 156 cycles.
    assert unit.cycle - before < 156 // 8 * len(indices)


def test_what_is_brought_nearer_is_no_element(unit: Unit) -> None:
    unit.release_all()
    place(unit, [bytes([number]) * 32 for number in range(200)], 8)
    ask(unit, "prefetch", list(range(150)), 8)
    ask(unit, "gather", [7], 8)
    assert [unit.query("next") for _ in range(4)] == [0x0707070707070707] * 4
    assert unit.query("problem") == NONE


def test_stop_forgets_what_is_under_way(unit: Unit) -> None:
    for taken in (0, 1, 40):
        unit.release_all()
        place(unit, [bytes([number]) for number in range(250)], 4)
        ask(unit, "gather", [1] * 200, 4)
        ask(unit, "gather", [2] * 200, 4)
        assert [unit.query("next") for _ in range(taken)] == [1] * taken
        assert unit.query("stop") == 0
        ask(unit, "gather", [3, 4], 4)
        assert [unit.query("next"), unit.query("next")] == [3, 4]
        assert unit.query("problem") == NONE


@pytest.mark.parametrize(
    ("misalignment", "shape"),
    [(0, 3 | 4 << 8), (0, 64 | 4 << 8), (0, 4 << 8), (0, 8 | 2 << 8), (4, 8 | 4 << 8), (16, 32 | 4 << 8)],
)
def test_shapes_that_there_are_not(unit: Unit, misalignment: int, shape: int) -> None:
    unit.release_all()
    table = unit.load(bytes(4096))
    unit.command("table", table.address + misalignment, shape)
    unit.command("gather", unit.load(bytes(64)).address, 2)
    assert unit.query("problem") == UNSUPPORTED
    # Nothing is owed: who asks does not wait.
    assert unit.query("next") == 0
    assert unit.query("problem") == MISSING


def test_more_sequences_than_may_wait(unit: Unit) -> None:
    unit.release_all()
    place(unit, [bytes([number]) for number in range(100)], 4)
    for number in range(12):
        ask(unit, "gather", [number] * 60, 4)
    assert unit.query("problem") == UNSUPPORTED
    assert [unit.query("next") for _ in range(180)] == [0] * 60 + [1] * 60 + [2] * 60
    assert unit.query("stop") == 0


def test_indices_and_elements_that_are_in_no_memory() -> None:
    unit = Unit("gather", assertions=True)
    place(unit, [bytes([number]) * 8 for number in range(16)], 4)
    ask(unit, "gather", [1, 1 << 20, 2], 4)
    assert [unit.query("next") for _ in range(3)] == [0x0101010101010101, 0, 0x0202020202020202]
    assert unit.query("problem") == FAULT
    ask(unit, "prefetch", [1 << 20], 4)
    unit.work()
    assert unit.query("problem") == FAULT
    # Of indices that cannot be read none are answered, and nobody waits for them.
    unit.command("gather", 0xDEAD_0000, 100)
    assert [unit.query("next", max_cycles=10_000) for _ in range(2)] == [0, 0]
    assert unit.query("problem") == FAULT
    unit.query("stop")
    ask(unit, "gather", [5], 4)
    assert unit.query("next") == 0x0505050505050505
    assert unit.query("problem") == NONE
