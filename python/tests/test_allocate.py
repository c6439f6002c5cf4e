"""The allocator in RTL: any calls against a list of what is allocated, and a walk through its heap."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackwright import Unit

OK, UNSUPPORTED = 0, 3
FOREIGN, TWICE, BROKEN = 1, 2, 3
GRAIN = 16
SEAL = 0x5A11C0DE


class Heap:
    """The unit with a heap of so many bytes, and what has been allocated of it."""

    def __init__(self, unit: Unit, length: int) -> None:
        self.unit = unit
        unit.release_all()
        self.memory = unit.reserve(length, "rw")
        assert unit.query("heap", self.memory.address, length) == OK
        self.blocks: dict[int, int] = {}

    def allocate(self, length: int) -> int:
        """An address of so many bytes of nobody's, which get values that `check` looks for; or 0."""
        address = self.unit.query("allocate", length)
        if address:
            assert address % GRAIN == 0
            assert self.memory.address < address
            assert address + length <= self.memory.address + self.memory.length
            self.blocks[address] = length
            self.unit.bench.write_memory(address, self._canary(address))
        return int(address)

    def free(self, address: int) -> None:
        """Gives one back; nothing else has written into it."""
        assert self.unit.bench.read_memory(address, self.blocks[address]) == self._canary(address)
        del self.blocks[address]
        self.unit.command("free", address)

    def check(self) -> list[tuple[int, int, bool]]:
        """Walks from header to header; gives place, grains and whether it is free of each block."""
        self.unit.work()
        for address, length in self.blocks.items():
            assert self.unit.bench.read_memory(address, length) == self._canary(address)
        data = self.unit.read(self.memory)
        place, previous, found = 0, 0, []
        while place < len(data) // GRAIN:
            low = int.from_bytes(data[GRAIN * place :][:8], "little")
            high = int.from_bytes(data[GRAIN * place + 8 :][:8], "little")
            size = low & (1 << 28) - 1
            assert high == (SEAL ^ place) << 32 | previous
            found.append((place, size, bool(low >> 28 & 1)))
            assert size >= 2
            place, previous = place + size, place
        assert place == len(data) // GRAIN
        used = {self.memory.address + GRAIN * (at + 1): GRAIN * (size - 1) for at, size, _ in found}
        assert all(used[address] >= length for address, length in self.blocks.items())
        assert not any(first[2] and second[2] for first, second in pairwise(found))
        return found

    def problem(self) -> tuple[int, int]:
        """The kind and the address of the first call that could not be obeyed."""
        answer = self.unit.query("problem")
        return answer & 0xFF, answer >> 8

    def _canary(self, address: int) -> bytes:
        return random.Random(address).randbytes(self.blocks[address])


@pytest.fixture(scope="module")
def unit() -> Iterator[Unit]:
    """The allocator as it is built by default; it must not have touched what is not its."""
    unit = Unit("allocate", check_idle=True, assertions=True)
    yield unit
    assert unit.violations == 0


SIZES = st.one_of(st.integers(0, 64), st.integers(0, 600), st.integers(500, 20_000), st.just(1 << 33))


@given(
    room=st.integers(2, 4000).map(lambda grains: GRAIN * grains),
    calls=st.lists(st.one_of(SIZES, st.integers(0, 30).map(lambda index: -1 - index)), max_size=60),
)
def test_any_calls(unit: Unit, room: int, calls: list[int]) -> None:
    heap = Heap(unit, room)
    for call in calls:
        if call >= 0:
            heap.allocate(call)
        elif heap.blocks:
            heap.free(list(heap.blocks)[(-1 - call) % len(heap.blocks)])
    heap.check()
    for address in list(heap.blocks):
        heap.free(address)
    assert unit.query("trim") == 0
    assert heap.check() == [(0, room // GRAIN, True)]
    # Nothing but this block is in any list.
    while heap.allocate(room // 4):
        pass
    while heap.allocate(1):
        pass
    assert not any(free for _, _, free in heap.check())
    assert heap.problem() == (0, 0)


def test_what_is_free_in_many_pieces_is_found_again_as_one(unit: Unit) -> None:
    heap = Heap(unit, 1 << 16)
    while heap.allocate(40):
        pass
    for address in random.Random(1).sample(list(heap.blocks), len(heap.blocks)):
        heap.free(address)
    # Without `trim`: what is kept is given back when nothing else is large enough.
    assert heap.allocate((1 << 16) - GRAIN)
    assert heap.allocate(1) == 0
    assert heap.problem() == (0, 0)


def test_small_blocks_come_back_at_once(unit: Unit) -> None:
    heap = Heap(unit, 1 << 16)
    cycles = []
    for _ in range(3):
        unit.work()
        before = unit.cycle
        address = heap.allocate(100)
        cycles.append(unit.cycle - before)
        heap.free(address)
    assert cycles[1] == cycles[2] < 12
    assert cycles[0] > 4 * cycles[1]


@pytest.mark.parametrize(
    ("address", "length", "status"),
    [(8, 64, UNSUPPORTED), (16, 16, UNSUPPORTED), (16, 40, UNSUPPORTED), (16, 1 << 32, UNSUPPORTED)],
)
def test_memory_that_can_be_no_heap(unit: Unit, address: int, length: int, status: int) -> None:
    assert unit.query("heap", address, length) == status
    assert unit.query("allocate", 1) == 0


def test_calls_that_cannot_be_obeyed_change_nothing(unit: Unit) -> None:
    heap = Heap(unit, 1 << 14)
    kept, large, other = heap.allocate(64), heap.allocate(2000), heap.allocate(64)
    unit.command("free", 0)
    assert heap.problem() == (0, 0)
    inside, outside = heap.memory.address, heap.memory.address + heap.memory.length
    for address in (inside, outside, kept + 8, kept + 16, large + 160, 1 << 60, 16):
        unit.command("free", address)
        assert heap.problem() == (FOREIGN, address & (1 << 56) - 1), hex(address)
    heap.free(kept)
    heap.free(large)
    for address in (kept, large):
        unit.command("free", address)
        assert heap.problem() == (TWICE, address)
    # The first one is told.
    unit.command("free", 8)
    unit.command("free", kept)
    assert heap.problem() == (FOREIGN, 8)
    assert heap.problem() == (0, 0)
    heap.free(other)
    assert unit.query("trim") == 0
    assert heap.check() == [(0, (1 << 14) // GRAIN, True)]


def test_a_header_that_was_written_over_is_told(unit: Unit) -> None:
    heap = Heap(unit, 1 << 14)
    first, second = heap.allocate(1000), heap.allocate(1000)
    unit.work()
    unit.bench.write_memory(second - GRAIN, b"\x77" * GRAIN)
    heap.free(first)
    assert heap.problem() == (BROKEN, first)
    unit.command("free", 8)
    assert heap.problem()[0] == FOREIGN


def test_time_does_not_grow_with_what_is_allocated(unit: Unit) -> None:
    def longest(blocks: int) -> int:
        heap, source = Heap(unit, 1 << 24), random.Random(blocks)
        for _ in range(blocks):
            heap.allocate(source.randint(600, 4000))
        most = 0
        for address in source.sample(list(heap.blocks), 25):
            unit.work()
            before = unit.cycle
            heap.free(address)
            heap.allocate(source.randint(600, 4000))
            most = max(most, unit.cycle - before)
        return most

    assert longest(3000) < 1.5 * longest(30)
