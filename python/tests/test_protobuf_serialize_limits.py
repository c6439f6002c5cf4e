"""What the serializer refuses, runs out of, or can't read; queued requests; where outputs and records lie."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from protobuf_serializer import (
    CHECK_COMPLETION,
    COMPLETION,
    DO_SERIALIZE,
    FEW_ENTRIES,
    HEAD,
    HUNG,
    LARGEST,
    LIMIT,
    MEM_SETUP,
    SMALLEST,
    STATUS,
    WAIT,
    Serializer,
)
from tiers import long

from rackwright.unit.commands import STATUS_NAMES
from rackwright.verification import protobuf_wire as wire
from rackwright.verification.protobuf_schema import Field, Kind, Message

OUTPUT_FULL, UNSUPPORTED, ACCESS_FAULT = (STATUS_NAMES.index(name) for name in STATUS_NAMES[2:])

LEAF = Message("Leaf", (Field(1, Kind.INT32), Field(2, Kind.STRING)))
MESSAGE = Message(
    "Limits",
    (
        Field(1, Kind.INT32),
        Field(2, Kind.STRING),
        Field(3, Kind.MESSAGE, message=lambda: LEAF),
        Field(4, Kind.FIXED32, repeated=True, packed=True),
        Field(5, Kind.STRING, repeated=True),
        Field(6, Kind.SINT32, repeated=True),
        Field(7, Kind.MESSAGE, repeated=True, message=lambda: LEAF),
    ),
)
VALUE: dict[int, Any] = {
    1: 150,
    2: b"testing" * 20,
    3: {1: 1, 2: b"x" * 40},
    4: list(range(50)),
    5: [b"a", b"b" * 100, b""],
    6: [-1, 2, -300],
    7: [{1: n, 2: b"y" * n} for n in range(6)],
}
EXPECTED = wire.encode(MESSAGE, VALUE)


@pytest.fixture(scope="module")
def unit() -> Serializer:
    """A serializer as it is built by default."""
    return Serializer()


@pytest.fixture
def address(unit: Serializer) -> int:
    """A message in fresh memory."""
    unit.use(MESSAGE)
    return unit.builder.message(MESSAGE, VALUE)


def works(unit: Serializer) -> None:
    """The unit does the next request as if nothing had been."""
    unit.use(MESSAGE)
    unit.check(VALUE)


@pytest.mark.parametrize("misalignment", [0, 7, 31])
def test_every_room_below_the_length_is_full(unit: Serializer, address: int, misalignment: int) -> None:
    for room in (*range(40), len(EXPECTED) // 2, len(EXPECTED) - 33, len(EXPECTED) - 1):
        assert unit.serialize(address, room, misalignment).status == "output_full"
    assert unit.serialize(address, len(EXPECTED), misalignment).data == EXPECTED
    assert unit.serialize(address, len(EXPECTED) + 1000, misalignment).data == EXPECTED


def test_unknown_fields_are_left_to_the_library(unit: Serializer) -> None:
    unit.use(MESSAGE)
    address = unit.builder.message(MESSAGE, {1: 5}, unknown_fields=True)
    assert unit.serialize(address, 100).status == "unsupported"
    inner = unit.builder.message(LEAF, {1: 5}, unknown_fields=True)
    outer = unit.builder.message(MESSAGE, {3: {}})
    pointer = outer + MESSAGE.slots[3].offset
    unit.pool.write(struct.pack("<Q", inner), pointer)
    assert unit.serialize(outer, 100).status == "unsupported"
    works(unit)


def test_types_and_fields_that_the_tables_forbid(unit: Serializer) -> None:
    foreign = Message("Foreign", (Field(1, Kind.INT32),), foreign=True)
    fields = (
        Field(1, Kind.INT32),
        Field(2, Kind.INT32, unsupported=True),
        Field(3, Kind.MESSAGE, message=lambda: foreign),
    )
    message = Message("Forbidden", fields)
    unit.use(message)
    unit.check({1: 5})
    for value in ({2: 5}, {1: 1, 2: 0}, {3: {1: 1}}):
        assert unit.serialize(unit.builder.message(message, value), 100).status == "unsupported"
    unit.use(foreign)
    assert unit.serialize(unit.builder.message(foreign, {}), 100).status == "unsupported"
    works(unit)


def test_a_fault_anywhere_ends_the_request(unit: Serializer, address: int) -> None:
    """A fault in any piece of memory that belongs to a message: an access fault, or it wasn't read."""
    faults = 0
    for start, length in list(unit.pool.ranges):
        unit.use(MESSAGE)
        address = unit.builder.message(MESSAGE, VALUE)
        unit.unit.bench.fault(start, length)
        output = unit.unit.reserve(len(EXPECTED))
        unit.start(address, output.address, output.length)
        answer = unit.unit.query(WAIT, max_cycles=HUNG)
        faults += answer == 1 + ACCESS_FAULT
        assert answer in (output.address, 1 + ACCESS_FAULT)
        assert unit.unit.violations == 0
    assert faults > 20
    works(unit)


def test_faults_of_the_output_and_of_what_is_told(unit: Serializer, address: int) -> None:
    output, record, entries = unit.unit.reserve(1000), unit.unit.reserve(32), unit.unit.reserve(16)
    for bad in (output.address + 1000 - len(EXPECTED) // 2, record.address, entries.address):
        unit.unit.bench.fault(bad, 1)
        unit.unit.command(MEM_SETUP, output.address + 1000, entries.address)
        unit.unit.command(LIMIT, output.address)
        unit.unit.command(COMPLETION, record.address)
        unit.unit.command(DO_SERIALIZE, unit.table, address)
        assert unit.unit.query(WAIT, max_cycles=HUNG) == 1 + ACCESS_FAULT
    works(unit)


def test_wild_pointers_are_faults(unit: Serializer) -> None:
    for number, value in ((2, 1 << 60 | 0x1000), (3, 0x7001), (3, 1 << 48)):
        unit.use(MESSAGE)
        address = unit.builder.message(MESSAGE, VALUE)
        unit.pool.write(struct.pack("<Q", value), address + MESSAGE.slots[number].offset)
        assert unit.serialize(address, 1000).status == "access_fault"
    works(unit)


@pytest.mark.parametrize("number", [4, 5])
def test_a_size_that_no_array_has_is_not_believed(unit: Serializer, address: int, number: int) -> None:
    offset = MESSAGE.slots[number].offset + (8 if number == 5 else 0)
    unit.pool.write(struct.pack("<i", -1), address + offset)
    assert unit.serialize(address, 1000).status == "unsupported"
    works(unit)


def test_requests_that_are_refused(unit: Serializer, address: int) -> None:
    output, record = unit.unit.reserve(1000), unit.unit.reserve(64)
    end = output.address + 1000
    for tail, entries, limit, bad_record, table, message in (
        (1 << 50, 0, output.address, 0, unit.table, address),
        (end, 0, end + 1, 0, unit.table, address),
        (end, record.address + 4, output.address, 0, unit.table, address),
        (end, 0, output.address, record.address + 16, unit.table, address),
        (end, 0, output.address, 0, 1 << 48, address),
        (end, 0, output.address, 0, unit.table, (1 << 64) - 8),
    ):
        unit.unit.command(MEM_SETUP, tail, entries)
        unit.unit.command(LIMIT, limit)
        unit.unit.command(COMPLETION, bad_record)
        unit.unit.command(DO_SERIALIZE, table, message)
        assert unit.unit.query(STATUS) in (0, 1 + ACCESS_FAULT)
        unit.unit.query(CHECK_COMPLETION, max_cycles=HUNG)
        assert unit.unit.query(WAIT) != 0
    assert unit.unit.violations == 0
    works(unit)


@pytest.mark.parametrize("misalignment", [0, 8, 24])
def test_queued_requests_share_a_region(unit: Serializer, misalignment: int) -> None:
    """Each output ends where the one before begins; one that fails takes no room."""
    unit.use(MESSAGE)
    values: list[dict[int, Any]] = [VALUE, {}, {1: 5}, {2: b"z" * 500}, VALUE, {6: [1, 2]}, {3: {}}, {1: 1}]
    addresses = [unit.builder.message(MESSAGE, value) for value in values]
    broken = unit.builder.message(MESSAGE, VALUE, unknown_fields=True)
    output = unit.unit.reserve(5000)
    records = unit.unit.reserve(32 * (len(values) + 1))
    entries = unit.unit.reserve(16 * (len(values) + 1), "rw", misalignment)
    unit.unit.command(MEM_SETUP, output.address + output.length, entries.address)
    unit.unit.command(LIMIT, output.address)
    before = unit.unit.query(CHECK_COMPLETION)
    for index, address in enumerate([*addresses[:4], broken, *addresses[4:]]):
        unit.unit.command(COMPLETION, records.address + 32 * index)
        unit.unit.command(DO_SERIALIZE, unit.table, address)
    assert unit.unit.query(CHECK_COMPLETION, max_cycles=HUNG) == before + len(values) + 1
    rows = list(struct.iter_unpack("<4Q", unit.unit.read(records)))
    views = list(struct.iter_unpack("<2Q", unit.unit.read(entries)))
    assert rows[4][0] == 1 + UNSUPPORTED
    assert rows[4][2] == 0
    assert views[4] == (0, 0)
    end = output.address + output.length
    del rows[4], views[4]
    for value, (mark, head, length, _), view in zip(values, rows, views, strict=True):
        assert mark == 1
        assert head == end - length
        assert view == (length, head)
        assert unit.unit.bench.read_memory(head, length) == wire.encode(MESSAGE, value)
        end = head
    assert unit.unit.query(HEAD) == end
    assert unit.unit.query(STATUS) == 1 + UNSUPPORTED
    assert unit.unit.query(STATUS) == 0
    assert unit.unit.violations == 0


def test_a_request_after_one_that_ran_out_of_room(unit: Serializer, address: int) -> None:
    small = unit.builder.message(MESSAGE, {1: 5})
    for _ in range(3):
        output = unit.unit.reserve(100)
        unit.start(address, output.address, 100)
        unit.unit.command(DO_SERIALIZE, unit.table, small)
        assert unit.unit.query(WAIT, max_cycles=HUNG) == 1 + OUTPUT_FULL
        assert unit.unit.bench.read_memory(output.address + 98, 2) == b"\x08\x05"
    assert unit.unit.violations == 0


def test_a_type_is_read_again_after_a_fence(unit: Serializer) -> None:
    for kind in (Kind.INT32, Kind.SINT32, Kind.FIXED32):
        unit.use(Message("Same", (Field(1, kind),)))
        unit.check({1: 77})


@pytest.mark.parametrize(
    "parameters",
    [
        pytest.param(FEW_ENTRIES, id="few entries"),
        long(SMALLEST, why="the design with few entries has one lane, too", name="smallest"),
        long(LARGEST, why="forty seconds of a processor to compile four lanes", name="largest"),
    ],
)
def test_other_sizes(parameters: dict[str, int]) -> None:
    works(Serializer(parameters))
