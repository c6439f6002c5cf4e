"""The deserializer where something is wrong: a status, no hang, and nothing touched that is not its own."""

from __future__ import annotations

import pytest
from protobuf_deserializer import (
    ARENA,
    ARRAYS,
    CHECK_COMPLETION,
    DO_PARSE,
    HUNG,
    LIMITS,
    LONG_STRINGS,
    MEM_SETUP,
    OBJECTS,
    PARSE_INFO,
    STATUS,
    STRINGS,
    TEXTS,
    WAIT,
    Deserializer,
)
from tiers import long

from rackwright.unit.alone import Buffer
from rackwright.unit.commands import STATUS_NAMES
from rackwright.verification import protobuf_wire as wire
from rackwright.verification.protobuf_schema import Field, Kind, Message

UNSUPPORTED_TYPE = Message("Foreign", (Field(1, Kind.INT32),))


def record() -> Message:
    """The type of the messages here."""
    return RECORD


RECORD = Message(
    "Record",
    (
        Field(1, Kind.INT32),
        Field(2, Kind.STRING, utf8=True),
        Field(3, Kind.MESSAGE, message=record),
        Field(4, Kind.UINT64, repeated=True, packed=True),
        Field(5, Kind.FIXED32),
        Field(6, Kind.FIXED64, repeated=True),
        Field(7, Kind.STRING, repeated=True),
        Field(8, Kind.MESSAGE, message=record, repeated=True),
        Field(9, Kind.INT32, unsupported=True),
    ),
)

GOOD = wire.encode(
    RECORD, {1: 5, 2: b"text", 3: {1: 4}, 4: [1, 300], 5: 7, 6: [1], 7: [b"a" * 20], 8: [{}, {1: 1}]}
)


@pytest.fixture(scope="module")
def shared() -> Deserializer:
    """A deserializer as it is built by default."""
    return Deserializer()


@pytest.fixture
def unit(shared: Deserializer) -> Deserializer:
    """The same, with tables and regions."""
    shared.use(RECORD)
    return shared


MALFORMED = {
    "a tag without its end": "80",
    "a tag of more than five bytes": "888080808000 00",
    "a varint without its end": "0880",
    "a varint of more than ten bytes": "0880808080808080808080 01",
    "field number 0": "0001",
    "field number 0 with a length": "0201 61",
    "field number 0 in a message": "1a02 0000",
    "the end of a group": "0c",
    "the end of a group in a message": "1a01 1c",
    "wire type 6": "0e01",
    "wire type 7 of a field that exists": "1701",
    "a length without its end": "1280",
    "a length of more than five bytes": "128180808080 0061",
    "a length of 2 GiB": "12 8080808008",
    "a length close to 2 GiB": "12 f0ffffff07",
    "a string beyond the end": "1205 61626364",
    "a message beyond the end": "1a03 0801",
    "a message beyond the end of the one around it": "1a04 1a03 0801 0801",
    "a value beyond the end of its message": "1a03 088080 01",
    "a tag beyond the end of its message": "1a01 88 01",
    "a fixed value without its end": "2d010203",
    "packed elements beyond the end": "2205 01",
    "a packed element beyond the end of its run": "2201 80 01",
    "packed fixed values with a part of one": "3209 0102030405060708 01",
    "a wrong string in a repeated field of messages": "4203 1201ff",
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed(unit: Deserializer, name: str) -> None:
    wrong = bytes.fromhex(MALFORMED[name].replace(" ", ""))
    for before in (b"", GOOD):
        outcome = unit.check(before + wrong)
        assert outcome.status == "malformed"
        assert len(before) <= outcome.offset <= len(before + wrong)


def test_offset_is_that_of_the_tag(unit: Deserializer) -> None:
    for wrong in ("0001", "0880", "1205 61", "0c", "1201ff"):
        assert unit.parse(GOOD + bytes.fromhex(wrong)).offset == len(GOOD)


@pytest.mark.parametrize(
    "foreign",
    ["5001", "780a", "0b0c", "0d01020304", "0a0101", "1001", "2d01020304 5801", "4801", "8080800101"],
)
def test_unsupported(unit: Deserializer, foreign: str) -> None:
    outcome = unit.parse(GOOD + bytes.fromhex(foreign))
    assert outcome.status == "unsupported"


def test_every_prefix(unit: Deserializer) -> None:
    for length in range(len(GOOD)):
        unit.check(GOOD[:length])


def test_every_region_too_small(unit: Deserializer) -> None:
    statuses = set()
    for objects in range(0, 640, 16):
        for arrays in (0, 16, 48, 128, 4096):
            unit.use(RECORD)
            unit.place_regions(objects, arrays)
            statuses.add(unit.parse(GOOD).status)
    assert statuses == {"ok", "output_full"}
    unit.use(RECORD)
    assert unit.check(GOOD).status == "ok"


def test_faults_of_memory(unit: Deserializer) -> None:
    """Wherever memory refuses something, the status says so, and the next message is read as ever."""
    long = GOOD + wire.encode(RECORD, {2: b"x" * 3000})
    for position in (0, 10, len(GOOD), 1000, len(long) - 1):
        unit.use(RECORD)
        source, target = unit.unit.load(long), unit.target()
        unit.unit.bench.fault(source.address + position, 1)
        assert ends_with(unit, source, target) == "access_fault"
    for which in ("target", "objects", "arrays"):
        unit.use(RECORD)
        source, target = unit.unit.load(long), unit.target()
        place = target if which == "target" else getattr(unit, which)
        unit.unit.bench.fault(place.address + 16, 32)
        assert ends_with(unit, source, target) == "access_fault"
    for offset in (0, 16, 32, 48, 64, 64 + 16 * 3):
        unit.use(RECORD)
        source, target = unit.unit.load(long), unit.target()
        unit.unit.bench.fault(unit.table + offset, 16)
        assert ends_with(unit, source, target) == "access_fault"
    unit.use(RECORD)
    assert unit.check(GOOD).status == "ok"


def ends_with(unit: Deserializer, source: Buffer, target: Buffer, record: int = 0) -> str:
    """The status of one message."""
    unit.give_regions()
    unit.start(source, target, record)
    answer = unit.unit.query(WAIT, max_cycles=HUNG)
    assert unit.unit.violations == 0
    return STATUS_NAMES[answer - 1] if answer else "ok"


def test_a_record_that_cannot_be_written(unit: Deserializer) -> None:
    source, target, place = unit.unit.load(GOOD), unit.target(), unit.unit.reserve(32)
    unit.unit.bench.fault(place.address, 32)
    assert ends_with(unit, source, target, place.address) == "access_fault"


def test_addresses_that_cannot_be(unit: Deserializer) -> None:
    source, target = unit.unit.load(GOOD), unit.target()
    assert ends_with(unit, source, target, record=8) == "access_fault"
    assert ends_with(unit, source, Buffer(target.address + 4, 0)) == "access_fault"
    assert ends_with(unit, source, Buffer(1 << 60, 0)) == "access_fault"
    assert ends_with(unit, Buffer(2**64 - 8, 100), target) == "access_fault"
    assert ends_with(unit, Buffer(source.address, 1 << 31), target) == "unsupported"
    table = unit.table
    unit.table = table + 8
    assert ends_with(unit, source, target) == "access_fault"
    unit.table = 0x8000
    unit.unit.bench.fault(unit.table, 64)
    assert ends_with(unit, source, target) == "access_fault"
    unit.table = table
    unit.unit.command(MEM_SETUP, 8, 0)
    unit.unit.command(PARSE_INFO, table, target.address)
    unit.unit.command(DO_PARSE, source.address, source.length)
    assert unit.unit.query(WAIT, max_cycles=HUNG) == 1 + STATUS_NAMES.index("access_fault")
    assert unit.check(GOOD).status == "ok"


def test_a_table_of_nothing(unit: Deserializer) -> None:
    """A header of zeros, or one that is flagged, is not a type that the unit knows."""
    source, target = unit.unit.load(GOOD), unit.target()
    table = unit.table
    unit.table = unit.unit.load(bytes(256)).address
    assert ends_with(unit, source, target) == "unsupported"
    header = bytearray(unit.unit.bench.read_memory(table, 64 + 16 * 9))
    header[52] |= 2
    unit.table = unit.unit.load(bytes(header)).address
    assert ends_with(unit, source, target) == "unsupported"
    unit.table = table
    assert unit.check(GOOD).status == "ok"


def test_more_requests_than_the_queue_holds(unit: Deserializer) -> None:
    """They complete in order, and the first failure is reported."""
    wrong = bytes.fromhex("0001")
    inputs = [wire.encode(RECORD, {1: i, 2: b"s" * i, 8: [{1: i}] * (i % 4)}) for i in range(20)]
    inputs[7] = wrong
    sources = [unit.unit.load(data) for data in inputs]
    targets = [unit.target() for _ in inputs]
    records = [unit.unit.reserve(32) for _ in inputs]
    before = unit.unit.query(CHECK_COMPLETION)
    unit.give_regions()
    for source, target, place in zip(sources, targets, records, strict=True):
        unit.start(source, target, place.address)
    assert unit.unit.query(STATUS) in (0, 2)
    assert unit.unit.query(CHECK_COMPLETION, max_cycles=HUNG) == before + len(inputs)
    unit.unit.query(WAIT)
    assert unit.unit.query(STATUS) == 0
    for index, (target, place) in enumerate(zip(targets, records, strict=True)):
        assert unit.unit.read(place)[0] == (2 if index == 7 else 1)
        if index != 7:
            assert unit.value(target)[1] == index
    assert unit.unit.violations == 0


@pytest.mark.parametrize("wrong", ["0001", "0880", "1880", "2d010203", "0801 4801", "0801 0b", "1001 0801"])
def test_small_messages_behind_one_that_fails(unit: Deserializer, wrong: str) -> None:
    """The scanner has gone ahead into the next message when the one before fails."""
    small = wire.encode(RECORD, {1: 5, 5: 7})
    failing = bytes.fromhex(wrong.replace(" ", ""))
    for place in range(4):
        inputs = [small] * 6
        inputs[place] = failing
        outcomes = unit.parse_together(inputs)
        assert outcomes.pop(place).status != "ok"
        assert [each.value for each in outcomes] == [{1: 5, 5: 7}] * 5


@pytest.mark.parametrize("position", [0, 1, 6])
def test_small_messages_behind_one_that_cannot_be_read(unit: Deserializer, position: int) -> None:
    small = wire.encode(RECORD, {1: 5, 5: 7})
    sources, targets = [unit.unit.load(small) for _ in range(4)], [unit.target() for _ in range(4)]
    records = [unit.unit.reserve(32) for _ in range(4)]
    unit.unit.bench.fault(sources[2].address + position, 1)
    unit.give_regions()
    for source, target, record in zip(sources, targets, records, strict=True):
        unit.start(source, target, record.address)
    assert unit.unit.query(WAIT, max_cycles=HUNG) == 1 + STATUS_NAMES.index("access_fault")
    ended = [STATUS_NAMES[unit.unit.read(record)[0] - 1] for record in records]
    assert ended == ["ok", "ok", "access_fault", "ok"]
    assert unit.value(targets[3]) == {1: 5, 5: 7}


def test_each_request_keeps_its_settings(unit: Deserializer) -> None:
    """Regions and arena may be set again while requests wait."""
    source = unit.unit.load(wire.encode(RECORD, {3: {1: 1}, 4: [1, 2, 3]}))
    outcomes = []
    for _ in range(6):
        unit.place_regions(4096, 4096)
        target = unit.target()
        outcomes.append((target, unit.objects))
        unit.give_regions()
        unit.start(source, target)
    unit.unit.command(ARENA, 0)
    assert unit.unit.query(WAIT, max_cycles=HUNG) == 0
    for target, objects in outcomes:
        assert unit.value(target) == {3: {1: 1}, 4: [1, 2, 3]}
        slot = RECORD.slots[3].offset
        assert (
            int.from_bytes(unit.unit.bench.read_memory(target.address + slot, 8), "little") == objects.address
        )


def test_heads_of_the_regions(unit: Deserializer) -> None:
    """Only strings that were made are between the head of the strings and the end of their region."""
    end = unit.objects.address + unit.objects.length
    texts = wire.encode(RECORD, {2: b"a" * 16, 3: {2: b"short"}, 7: [b"b" * 15, b"c" * 40]})
    assert unit.parse(texts).status == "ok"
    assert unit.unit.query(STRINGS) == end - 4 * 32
    assert unit.unit.query(LONG_STRINGS) == 2
    assert unit.unit.query(OBJECTS) == unit.objects.address + -(-RECORD.size // 32) * 32
    assert unit.unit.query(ARRAYS) > unit.arrays.address
    assert unit.unit.query(TEXTS) == unit.arrays.address + unit.arrays.length - 32 - 64
    unit.give_regions()
    heads = [unit.unit.query(head) for head in (OBJECTS, STRINGS, ARRAYS, TEXTS, LONG_STRINGS)]
    arrays_end = unit.arrays.address + unit.arrays.length
    assert heads == [unit.objects.address, end, unit.arrays.address, arrays_end, 0]
    assert unit.parse(b"").status == "ok"
    assert (unit.unit.query(STRINGS), unit.unit.query(LONG_STRINGS)) == (end, 0)
    assert unit.parse(wire.delimited(2, b"fine") + wire.delimited(2, b"\xff" * 20)).status == "malformed"
    assert unit.unit.query(STRINGS) == end - 32
    assert unit.unit.query(LONG_STRINGS) == 1
    unit.use(RECORD)
    unit.place_regions(4096, 16)
    assert unit.parse(texts).status == "output_full"
    assert unit.unit.query(STRINGS) == unit.objects.address + unit.objects.length


def test_commands_that_do_not_exist_are_answered(unit: Deserializer) -> None:
    assert unit.unit.query(100, max_cycles=1000) == 2**64 - 1
    assert unit.unit.query(LIMITS, opcode=1, max_cycles=1000) == 2**64 - 1


def test_empty_message_within_forty_cycles(unit: Deserializer) -> None:
    unit.parse(b"")
    assert unit.parse(b"").cycles <= 40


@pytest.mark.parametrize(
    "parameters",
    [
        {"port-bytes": 16},
        long({"depth": 2, "store-lines": 4, "outstanding": 4}, why="a design for nothing else"),
    ],
)
def test_other_parameters(parameters: dict[str, int]) -> None:
    other = Deserializer(parameters)
    other.use(RECORD)
    depth = parameters.get("depth", 25)
    inner: wire.Value = {}
    for length in (0, 1, 14, 15, 16, 31, 32, 33, 200):
        other.check(
            wire.encode(RECORD, {2: b"y" * length, 7: [b"z" * length] * 9, 6: list(range(length))}),
            length % 32,
        )
    for _ in range(depth + 1):
        other.check(wire.encode(RECORD, inner), depth=depth)
        inner = {1: 1, 3: inner, 4: [1] * 40, 8: [{1: 2, 7: [b"q" * 40]}] * 9 if depth > 2 else []}
