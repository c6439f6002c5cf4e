"""What the deserializer leaves over for the library: unknown fields, groups, values that no enum has."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import pytest
from protobuf_deserializer import HUNG, WAIT, Deserializer

from rackwright.unit.alone import Buffer
from rackwright.unit.commands import STATUS_NAMES
from rackwright.verification import protobuf_wire as wire
from rackwright.verification.protobuf_schema import Field, Kind, Message

LEFTOVERS, LEFTOVER_HEAD = 8, 24
START_GROUP, END_GROUP = 3, 4

LEAF = Message("Leaf", (Field(1, Kind.INT32), Field(2, Kind.STRING, utf8=True)))
CHOICE = frozenset({0, 1, 5})
TOP = Message(
    "Top",
    (
        Field(1, Kind.INT32),
        Field(2, Kind.ENUM, enum_values=CHOICE),
        Field(3, Kind.ENUM, repeated=True, packed=True, enum_values=CHOICE),
        Field(4, Kind.MESSAGE, message=lambda: LEAF),
        Field(5, Kind.STRING, unsupported=True),
        Field(6, Kind.STRING, unsupported=True, oneof=0),
    ),
)

VARINT = wire.tag(9, wire.VARINT) + b"\x96\x01"
TEXT = wire.delimited(900, b"text" * 30)
EMPTY = wire.delimited(9, b"")
GROUP = wire.tag(12, START_GROUP) + VARINT + wire.tag(1, START_GROUP) + TEXT + wire.tag(1, END_GROUP)
GROUP += wire.tag(1, wire.FIXED32) + b"1234" + wire.tag(12, END_GROUP)
KNOWN = wire.encode(TOP, {1: 7})


@dataclass(frozen=True)
class Leftover:
    """A record: whose it is, relative to the message's object, the bytes, and the number that they lack."""

    is_root: bool
    content: bytes
    number: int = 0


@pytest.fixture(scope="module", params=[32, 16])
def unit(request: pytest.FixtureRequest) -> Deserializer:
    """A deserializer with ports of either width."""
    return Deserializer({"port-bytes": request.param})


def parse(
    unit: Deserializer, data: bytes, records: int = 16
) -> tuple[str, dict[int, object], list[Leftover]]:
    """Status, fields, and what is left over."""
    unit.use(TOP)
    source, target = unit.unit.load(data, "r", 5), unit.target()
    room = unit.unit.load(bytes(32 * (records + 2)), "rw")
    start = -(-room.address // 32) * 32
    unit.give_regions()
    unit.unit.command(LEFTOVERS, start, start + 32 * records)
    assert unit.unit.query(LEFTOVER_HEAD) == start
    unit.start(source, target)
    answer = unit.unit.query(WAIT, max_cycles=HUNG)
    end = unit.unit.query(LEFTOVER_HEAD)
    assert unit.unit.violations == 0
    found = [_record(unit, at, source, target) for at in range(start, end, 32)]
    return STATUS_NAMES[max(answer - 1, 0)], unit.value(target) if answer == 0 else {}, found


def _record(unit: Deserializer, at: int, source: Buffer, target: Buffer) -> Leftover:
    word = struct.unpack("<4Q", unit.unit.bench.read_memory(at, 32))
    assert word[3] == target.address
    assert source.address <= word[1] < source.address + source.length
    content = unit.unit.bench.read_memory(word[1], word[2] & 0xFFFFFFFF)
    return Leftover(word[0] == target.address, content, word[2] >> 32)


LEFT_OVER = {
    "unknown number": VARINT,
    "unknown text": TEXT,
    "unknown and empty": EMPTY,
    "group": GROUP,
    "unknown fixed": wire.tag(7, wire.FIXED64) + b"12345678",
    "text instead of a number": wire.delimited(1, b"ab"),
    "value of no enum": wire.tag(2, wire.VARINT) + b"\x02",
    "left to the library": wire.delimited(5, b"for the library"),
    "number instead of a message": wire.tag(4, wire.VARINT) + b"\x01",
}


@pytest.mark.parametrize("content", LEFT_OVER.values(), ids=LEFT_OVER)
def test_a_field_is_left_over(unit: Deserializer, content: bytes) -> None:
    for data in (content, KNOWN + content, content + KNOWN, content + KNOWN + content):
        status, value, left = parse(unit, data)
        assert status == "ok"
        assert left == [Leftover(is_root=True, content=content)] * data.count(content)
        assert value == ({1: 7} if KNOWN in data else {})


def test_elements_of_packed_fields_are_left_over_alone(unit: Deserializer) -> None:
    status, value, left = parse(unit, wire.delimited(3, b"\x00\x02\x05\x87\x01\x01") + KNOWN)
    assert (status, value) == ("ok", {1: 7, 3: [0, 5, 1]})
    assert left == [Leftover(True, b"\x02", 3), Leftover(True, b"\x87\x01", 3)]


def test_what_is_left_over_belongs_to_its_object(unit: Deserializer) -> None:
    inner = VARINT + wire.encode(LEAF, {1: 3}) + GROUP
    status, value, left = parse(unit, VARINT + wire.delimited(4, inner) + TEXT)
    assert (status, value) == ("ok", {4: {1: 3}})
    assert left == [
        Leftover(True, VARINT),
        Leftover(False, VARINT),
        Leftover(False, GROUP),
        Leftover(True, TEXT),
    ]


@pytest.mark.parametrize("length", [0, 15, 16])
def test_an_unknown_field_beside_strings(unit: Deserializer, length: int) -> None:
    """It has the number of a string modulo 64, so that it may have left the input before it is known."""
    foreign = wire.delimited(66, b"t" * length)
    inner = foreign + wire.encode(LEAF, {2: b"text"})
    status, fields, leftovers = parse(unit, wire.delimited(4, inner) + KNOWN)
    assert (status, fields) == ("ok", {1: 7, 4: {2: b"text"}})
    assert leftovers == [Leftover(False, foreign)]


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (wire.delimited(6, b"in a oneof"), "unsupported"),
        (VARINT * 17, "unsupported"),
        (wire.tag(9, START_GROUP) * 9, "unsupported"),
        (wire.tag(9, START_GROUP) * 8, "malformed"),
        (wire.tag(9, START_GROUP) + wire.tag(8, END_GROUP), "malformed"),
        (wire.tag(9, END_GROUP), "malformed"),
        (wire.delimited(4, wire.tag(9, START_GROUP)) + wire.tag(9, END_GROUP), "malformed"),
        (wire.tag(9, START_GROUP) + TEXT, "malformed"),
        (TEXT[:-1], "malformed"),
        (VARINT[:-1], "malformed"),
        (wire.tag(9, 6), "malformed"),
    ],
)
def test_what_can_not_be_left_over(unit: Deserializer, data: bytes, status: str) -> None:
    for before in (b"", KNOWN):
        assert parse(unit, before + data)[0] == status
