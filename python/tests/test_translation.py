"""Units with virtual addresses: the copy unit behind its translation, on page tables of our own making."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from page_tables import (
    ACCESSED,
    DIRTY,
    EXECUTE,
    PAGE,
    READ,
    RESERVED,
    USED,
    USER,
    VALID,
    WRITE,
    Context,
    NoTableError,
    PageTables,
)

from rackwright import Buffer, EngineError, Unit, elaborate
from rackwright.unit.commands import DEST_AND_START, LIMIT, SRC, STATUS, operate, start, wait

HUNG = 10_000_000
FAULT = 127
KNOWN, WRITTEN, TABLES = 1, 2, 4
TABLE_BASE = 0x4000_0000
DATA_BASE = 0x8000_0000
ALL = USED | READ | WRITE | DIRTY
NOISE = random.Random(5).randbytes(1 << 16)


@pytest.fixture(scope="module")
def unit() -> Unit:
    """The copy unit with translation; every test forgets the buffers of the one before."""
    return Unit(elaborate("stream-copy", translation=True, assertions=True), check_idle=True)


class Space:
    """An address space of a unit under test."""

    def __init__(self, unit: Unit, bits: int = 39, base: int = TABLE_BASE) -> None:
        self.unit = unit
        self.tables = PageTables(unit, bits, base)

    def enter(self, how: Context | None = None) -> Context:
        """Has commands from now on come from here, in user mode or as `how` says."""
        context = replace(how or Context(0), satp=self.tables.satp)
        self.unit.bench.set_context(
            context.satp, context.privilege, context.user_memory, context.executable_readable
        )
        return context

    def page(self, virtual: int, physical: int, flags: int = ALL, content: bytes = b"") -> None:
        """A page of 4 KiB, with its content."""
        self.unit.bench.allow(physical, PAGE, "rw")
        self.unit.bench.write_memory(physical, content.ljust(PAGE, b"\0")[:PAGE])
        self.tables.map(virtual, physical, flags)


@pytest.fixture
def space(unit: Unit) -> Space:
    """An empty space of Sv39, entered."""
    unit.release_all()
    made = Space(unit)
    unit.bench.fence()
    made.enter()
    return made


def fault_of(unit: Unit) -> tuple[int, int] | None:
    """Address and bits of what was refused, if anything was."""
    answer = unit.query(FAULT)
    return (answer & ~15, answer & 15) if answer else None


def test_a_copy_crosses_pages_that_lie_anywhere(unit: Unit, space: Space) -> None:
    order = random.Random(1).sample(range(40), 16)
    for index in range(8):
        content = NOISE[index * PAGE : (index + 1) * PAGE]
        space.page(0x10_0000 + index * PAGE, DATA_BASE + order[index] * PAGE, content=content)
        space.page(0x40_0000 + index * PAGE, DATA_BASE + order[8 + index] * PAGE)
    length = 7 * PAGE + 100
    source, target = Buffer(0x10_0000 + 17, length), Buffer(0x40_0000 + 45, length)
    ended = operate(unit, source, target, max_cycles=HUNG)
    assert (ended.status, ended.output_bytes) == ("ok", length)
    written = b"".join(
        unit.bench.read_memory(DATA_BASE + order[8 + index] * PAGE, PAGE) for index in range(8)
    )
    assert written[45 : 45 + length] == NOISE[17 : 17 + length]
    assert not any(written[:45])
    assert not any(written[45 + length :])
    assert fault_of(unit) is None
    assert unit.violations == 0


@pytest.mark.parametrize("write", [False, True])
def test_a_missing_page_is_told_and_the_copy_can_be_repeated(unit: Unit, space: Space, write: bool) -> None:
    for index in range(4):
        content = NOISE[index * PAGE : (index + 1) * PAGE]
        space.page(0x10_0000 + index * PAGE, DATA_BASE + index * PAGE, content=content)
        space.page(0x40_0000 + index * PAGE, DATA_BASE + (8 + index) * PAGE)
    missing = (0x40_0000 if write else 0x10_0000) + 2 * PAGE
    place = DATA_BASE + (10 if write else 2) * PAGE
    space.tables.put(missing, 0)
    unit.bench.fence()
    source, target = Buffer(0x10_0000 + 8, 3 * PAGE), Buffer(0x40_0000 + 24, 3 * PAGE)
    assert operate(unit, source, target, max_cycles=HUNG).status == "access_fault"
    assert fault_of(unit) == (missing, KNOWN | (WRITTEN if write else 0))
    # No fence: what is not there is not remembered.
    space.tables.map(missing, place, ALL)
    assert operate(unit, source, target, max_cycles=HUNG).status == "ok"
    assert fault_of(unit) is None
    assert unit.bench.read_memory(DATA_BASE + 8 * PAGE + 24, 3 * PAGE) == NOISE[8 : 8 + 3 * PAGE]


def test_a_write_waits_for_the_dirty_mark(unit: Unit, space: Space) -> None:
    space.page(0x10_0000, DATA_BASE, content=NOISE[:PAGE])
    space.page(0x40_0000, DATA_BASE + PAGE, ALL & ~DIRTY)
    source, target = Buffer(0x10_0000, 100), Buffer(0x40_0000, 100)
    assert operate(unit, source, target, max_cycles=HUNG).status == "access_fault"
    assert fault_of(unit) == (0x40_0000, KNOWN | WRITTEN)
    space.tables.map(0x40_0000, DATA_BASE + PAGE, ALL)
    assert operate(unit, source, target, max_cycles=HUNG).status == "ok"


def test_a_fence_forgets_and_no_fence_need_not(unit: Unit, space: Space) -> None:
    space.page(0x10_0000, DATA_BASE, content=b"before")
    space.page(0x20_0000, DATA_BASE + 8 * PAGE)
    unit.bench.allow(DATA_BASE + PAGE, PAGE, "rw")
    unit.bench.write_memory(DATA_BASE + PAGE, b"after!")
    source, target = Buffer(0x10_0000, 6), Buffer(0x20_0000, 6)
    assert operate(unit, source, target, max_cycles=HUNG).status == "ok"
    space.tables.map(0x10_0000, DATA_BASE + PAGE, ALL)
    unit.bench.fence()
    assert operate(unit, source, target, max_cycles=HUNG).status == "ok"
    assert unit.bench.read_memory(DATA_BASE + 8 * PAGE, 6) == b"after!"


def test_a_fence_in_the_middle_of_a_copy_takes_the_page_away(unit: Unit, space: Space) -> None:
    for index in range(16):
        space.page(0x10_0000 + index * PAGE, DATA_BASE + index * PAGE, content=NOISE[:PAGE])
        space.page(0x40_0000 + index * PAGE, DATA_BASE + (32 + index) * PAGE)
    start(unit, Buffer(0x10_0000, 16 * PAGE), Buffer(0x40_0000, 16 * PAGE))
    unit.bench.run(1500)
    for index in range(16):
        space.tables.put(0x40_0000 + index * PAGE, 0)
    unit.bench.fence()
    before = [unit.bench.read_memory(DATA_BASE + (32 + index) * PAGE, PAGE) for index in range(16)]
    assert any(map(any, before))
    assert not all(map(any, before))
    assert wait(unit, max_cycles=HUNG).status == "access_fault"
    after = [unit.bench.read_memory(DATA_BASE + (32 + index) * PAGE, PAGE) for index in range(16)]
    assert after == before


def test_two_processes_do_not_meet(unit: Unit, space: Space) -> None:
    other = Space(unit, bits=48, base=TABLE_BASE + (1 << 24))
    places = {space: DATA_BASE, other: DATA_BASE + 64 * PAGE}
    for owner, place in places.items():
        for index in range(4):
            content = bytes([index + (1 if owner is space else 101)]) * PAGE
            owner.page(0x10_0000 + index * PAGE, place + index * PAGE, content=content)
            owner.page(0x40_0000 + index * PAGE, place + (8 + index) * PAGE)
    source, target = Buffer(0x10_0000, 4 * PAGE), Buffer(0x40_0000, 4 * PAGE)
    # The first one's copy is under way when the second one's commands come, and the first one asks again.
    start(unit, source, target, flag=0x40_0000 + 4 * PAGE - 8)
    other.enter()
    start(unit, source, target)
    assert wait(unit, max_cycles=HUNG).status == "ok"
    for owner, place in places.items():
        first = 1 if owner is space else 101
        copied = unit.bench.read_memory(place + 8 * PAGE, 4 * PAGE - 8)
        assert copied == b"".join(bytes([first + index]) * PAGE for index in range(4))[:-8]
    # What one has set, and how its operations ended, is not there for the other.
    space.enter()
    unit.command(SRC, 0x10_0000, 64)
    other.enter()
    unit.command(LIMIT, 64, 0)
    unit.command(DEST_AND_START, 0x40_0000, 0)
    ended = wait(unit, max_cycles=HUNG)
    assert (ended.status, ended.output_bytes) == ("ok", 0)


def test_the_fault_of_one_process_is_not_told_another(unit: Unit, space: Space) -> None:
    other = Space(unit, base=TABLE_BASE + (1 << 24))
    missing = Buffer(0x10_0000, 64)
    assert operate(unit, missing, missing, max_cycles=HUNG).status == "access_fault"
    other.enter()
    assert fault_of(unit) is None
    space.enter()
    assert fault_of(unit) == (0x10_0000, KNOWN)


def test_tables_where_no_memory_is(unit: Unit, space: Space) -> None:
    space.tables.put(0x10_0000, (1 << 40) << 10 | VALID, level=1)
    missing = Buffer(0x10_0000, 64)
    assert operate(unit, missing, missing, max_cycles=HUNG).status == "access_fault"
    assert fault_of(unit) == (0x10_0000, KNOWN | TABLES)


def test_flat_addresses_in_machine_mode_and_without_tables(unit: Unit) -> None:
    for satp, privilege in ((0, 0), (8 << 60 | 5, 3)):
        unit.release_all()
        unit.bench.set_context(satp, privilege)
        source, target = unit.load(NOISE[:5000]), unit.reserve(5000)
        assert operate(unit, source, target, max_cycles=HUNG).status == "ok"
        assert unit.read(target) == NOISE[:5000]


FLAGS = (USED | READ | WRITE | DIRTY | EXECUTE, RESERVED, VALID, READ, WRITE, EXECUTE, USER, ACCESSED, DIRTY)
CONTEXTS = (
    Context(0),
    Context(0, executable_readable=True),
    Context(0, privilege=1),
    Context(0, privilege=1, user_memory=True),
    Context(0, privilege=1, user_memory=True, executable_readable=True),
)


@pytest.mark.parametrize("bits", [39, 48])
@pytest.mark.parametrize("seed", range(4))
def test_random_tables_against_a_walk(unit: Unit, bits: int, seed: int) -> None:
    """Pages of all sizes with flags that are mostly right: each byte is read and written as the walk says."""
    unit.release_all()
    violations = unit.violations
    space = Space(unit, bits)
    chance = random.Random(f"{bits} {seed}")
    unit.bench.allow(DATA_BASE, 1 << 30, "rw")
    space.tables.memory.append(range(DATA_BASE, DATA_BASE + (1 << 30)))
    tops = [0, (1 << 64) - (1 << (bits - 1)), 1 << (bits - 2), 1 << (bits - 1)]
    addresses = []
    for number in range(60):
        level = chance.choice((0, 0, 0, 1, 1, space.tables.levels - 1 if number % 20 == 0 else 0))
        size = PAGE << (9 * level)
        top = chance.choice(tops[:3])
        virtual = (top + (number + 1) * (1 << 30) // 16 * (1 if level < 2 else 16)) // size * size
        flags = FLAGS[0]
        for flag in chance.sample(FLAGS[1:], chance.choice((0, 0, 1, 1, 2))):
            flags ^= flag
        # A leaf without its flags points to a table: to zeros, in memory that is there.
        pages = 1 if level == 0 or chance.random() < 0.3 else 512
        physical = DATA_BASE + chance.randrange(64) * pages * PAGE if level < 2 else DATA_BASE
        if space.tables.map(virtual, physical, flags, level):
            addresses.append(virtual + chance.randrange(0, min(size, 2 << 20), 32))
    addresses += [chance.choice(addresses) ^ (1 << chance.randrange(bits - 1, 64)) for _ in range(6)]
    scratch_source, scratch_target = DATA_BASE + (600 << 20), DATA_BASE + (601 << 20)
    # Where no other mapping has a table in common with it.
    both = (1 << (bits - 2)) + (1 << (bits - 3))
    unit.bench.write_memory(scratch_source, NOISE[:32])
    for number, how in enumerate(CONTEXTS):
        mark = USED if how.privilege == 0 else USED & ~USER
        for offset, place in ((0, scratch_source), (PAGE, scratch_target)):
            space.tables.map(both + offset, place, mark | READ | WRITE | DIRTY)
        unit.bench.fence()
        context = space.enter(how)
        for address in addresses:
            reads(unit, space.tables, context, address, both + PAGE, scratch_target)
            writes(unit, space.tables, context, address, both, number)
    assert unit.violations == violations


def has_tables(tables: PageTables, address: int, context: Context) -> bool:
    """Whether a walk stays in memory: what was written by accesses before can be a table too."""
    try:
        tables.walk(address, False, context)
    except NoTableError:
        return False
    return True


def reads(unit: Unit, tables: PageTables, context: Context, address: int, target: int, place: int) -> None:
    """32 bytes from `address` are what the walk finds, or the fault is told."""
    expected = tables.walk(address, False, context)
    if expected is not None and not DATA_BASE <= expected < DATA_BASE + (1 << 30) - 32:
        return
    ended = operate(unit, Buffer(address, 32), Buffer(target, 32), max_cycles=HUNG)
    if expected is None:
        assert ended.status == "access_fault", hex(address)
        assert fault_of(unit) == (address, KNOWN), hex(address)
    else:
        assert ended.status == "ok", hex(address)
        assert unit.bench.read_memory(place, 32) == unit.bench.read_memory(expected, 32)


def writes(unit: Unit, tables: PageTables, context: Context, address: int, source: int, number: int) -> None:
    """32 bytes go to where the walk leads, or the fault is told."""
    expected = tables.walk(address, True, context)
    if expected is not None and not DATA_BASE <= expected < DATA_BASE + (1 << 30) - 32:
        return
    unit.bench.write_memory(DATA_BASE + (600 << 20), NOISE[32 * number : 32 * number + 32])
    ended = operate(unit, Buffer(source, 32), Buffer(address, 32), max_cycles=HUNG)
    if expected is None:
        assert ended.status == "access_fault", hex(address)
        assert fault_of(unit) == (address, KNOWN | WRITTEN), hex(address)
    else:
        assert ended.status == "ok", hex(address)
        assert unit.bench.read_memory(expected, 32) == NOISE[32 * number : 32 * number + 32]


def test_a_flat_unit_has_no_context() -> None:
    flat = Unit("stream-copy")
    with pytest.raises(EngineError, match="built without translation"):
        flat.bench.set_context(8 << 60)
    assert flat.query(FAULT) == (1 << 64) - 1
    assert flat.query(STATUS) == 0
