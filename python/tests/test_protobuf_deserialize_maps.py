"""The deserializer on maps: repeated entries, which the library makes a map of when it is first used."""

from __future__ import annotations

import random
from typing import Any

import pytest
from protobuf_deserializer import HUNG, WAIT, Deserializer

from rackwright.unit.commands import STATUS_NAMES
from rackwright.verification import protobuf_wire as wire
from rackwright.verification.protobuf_schema import (
    FORMATS,
    KEY_KINDS,
    Field,
    Kind,
    MapField,
    Message,
    map_field,
)

NOISE = random.Random(11)

VALUES = [*FORMATS, Kind.STRING, Kind.BYTES, Kind.MESSAGE]


def tree() -> Message:
    """A type with maps, some of whose values are of the same type."""
    return TREE


TREE = Message(
    "Tree",
    (
        Field(1, Kind.INT32),
        map_field(2, Kind.INT32, Field(2, Kind.MESSAGE, message=tree)),
        map_field(3, Kind.STRING, Field(2, Kind.STRING, utf8=True)),
        map_field(4, Kind.BOOL, Field(2, Kind.ENUM, enum_values=frozenset(range(6)))),
        Field(5, Kind.UINT64, repeated=True, packed=True),
        Field(6, Kind.MESSAGE, message=tree),
        Field(7, Kind.STRING, repeated=True),
        Field(8, Kind.MESSAGE, message=tree, oneof=0),
        Field(9, Kind.INT32, oneof=0),
        Field(10, Kind.MESSAGE, message=tree, repeated=True),
    ),
)


def entries(number: int, *contents: bytes, message: Message = TREE) -> bytes:
    """Entries of a map, as they are given, in which `encode` would see to order and to what is missing."""
    assert message.by_number[number].map
    return b"".join(wire.delimited(number, content) for content in contents)


def pair(key: bytes, value: bytes) -> bytes:
    """An entry of field 3."""
    return wire.delimited(1, key) + wire.delimited(2, value)


@pytest.fixture(scope="module")
def unit() -> Deserializer:
    """A deserializer as it is built by default."""
    return Deserializer()


def sample(kind: Kind, index: int) -> Any:
    """A value of a type, another one for each index."""
    if kind is Kind.BOOL:
        return index % 2 == 0
    if kind is Kind.MESSAGE:
        return {1: index, 2: [{1: 4, 2: {}}], 3: [{1: b"k%d" % index, 2: b"v" * index}]}
    if kind in (Kind.STRING, Kind.BYTES):
        return b"%d" % index + b"x" * (5 * index)
    return 3 * index


@pytest.mark.parametrize("key", KEY_KINDS, ids=lambda kind: kind.name)
def test_maps_of_every_key_to_every_value(unit: Deserializer, key: Kind) -> None:
    fields = [map_field(n, key, Field(2, value, message=tree)) for n, value in enumerate(VALUES, 1)]
    message = Message("Maps", tuple(fields))
    unit.use(message)
    for count in (1, 2, 7, 20):
        value = {
            field.number: [{1: sample(key, i), 2: sample(kind, i)} for i in range(count)]
            for field, kind in zip(fields, VALUES, strict=True)
        }
        assert unit.check(wire.encode(message, value)).status == "ok"


def test_no_entries(unit: Deserializer) -> None:
    unit.use(TREE)
    assert unit.check(b"").value == {}
    assert unit.check(wire.encode(TREE, {1: 5, 6: {1: 3}})).status == "ok"


def test_entries_of_one_key_are_all_there(unit: Deserializer) -> None:
    """The library takes the last one."""
    unit.use(TREE)
    same = [pair(b"key", b"v" * length) for length in range(0, 40, 3)]
    outcome = unit.check(entries(3, *same))
    assert outcome.value is not None
    assert len(outcome.value[3]) == len(same)


@pytest.mark.parametrize(
    "entry",
    [
        b"",
        wire.delimited(1, b"key"),
        wire.delimited(2, b"value"),
        wire.delimited(2, b"value") + wire.delimited(1, b"key"),
        pair(b"first", b"one") + pair(b"second", b"another"),
    ],
    ids=["empty", "no value", "no key", "value first", "both twice"],
)
def test_entries_of_other_forms(unit: Deserializer, entry: bytes) -> None:
    unit.use(TREE)
    assert unit.check(entries(3, entry)).status == "ok"
    assert unit.check(entries(3, pair(b"a", b"b"), entry, entry, pair(b"c", b"d"))).status == "ok"


def test_a_message_twice_in_an_entry_merges(unit: Deserializer) -> None:
    unit.use(TREE)
    parts: tuple[wire.Value, ...] = ({1: 1, 3: [{1: b"a", 2: b"b"}]}, {5: [1, 2], 3: [{1: b"c", 2: b"d"}]})
    twice = b"".join(wire.delimited(2, wire.encode(TREE, part)) for part in parts)
    outcome = unit.check(entries(2, wire.tag(1, wire.VARINT) + b"\0" + twice))
    assert outcome.value is not None
    assert len(outcome.value[2][0][2][3]) == 2


def test_maps_in_turns_with_other_fields(unit: Deserializer) -> None:
    """A map that is opened again is found where it was left."""
    unit.use(TREE)
    parts = [
        entries(3, pair(b"key", b"value" * 5)),
        wire.encode(TREE, {5: [1, 2, 3]}),
        entries(4, b"\x08\x01\x10\x04", b""),
        wire.encode(TREE, {7: [b"text", b"t" * 30]}),
        entries(2, b"\x08\x07\x12\x02\x08\x01"),
        wire.encode(TREE, {10: [{3: [{1: b"k", 2: b"v"}]}]}),
    ]
    for rounds in (1, 2, 9):
        unit.check(b"".join(parts) * rounds)
        unit.check(b"".join(NOISE.sample(parts * rounds, len(parts) * rounds)))


def test_what_occurs_twice(unit: Deserializer) -> None:
    """Messages are merged, and with them their maps, whether they had one before or not."""
    unit.use(TREE)
    inner: tuple[wire.Value, ...] = (
        {3: [{1: b"one", 2: b"1"}], 2: [{1: 1, 2: {1: 1}}]},
        {3: [{1: b"two", 2: b"2" * 20}], 5: [4], 4: [{1: True, 2: 3}]},
        {1: 8},
    )
    for number in (6, 8):
        for first in inner:
            for second in inner:
                both = (wire.encode(TREE, {number: part}) for part in (first, second, first))
                assert unit.check(b"".join(both)).status == "ok"
    other = wire.encode(TREE, {9: 4})
    unit.check(wire.encode(TREE, {8: inner[0]}) + other + wire.encode(TREE, {8: inner[1]}))


def test_maps_within_maps(unit: Deserializer) -> None:
    unit.use(TREE)
    value: wire.Value = {}
    for depth in range(15):
        value = {
            2: [{1: i, 2: value if i == 1 else {1: i}} for i in range(3)],
            3: [{1: b"d%d" % depth, 2: b""}],
        }
        unit.check(wire.encode(TREE, value))


def test_fields_of_numbers_that_share_a_bit(unit: Deserializer) -> None:
    """One bit remembers fields 1 and 65: a map is looked for that has never been there."""
    message = Message(
        "Far", (Field(1, Kind.INT32), map_field(65, Kind.INT32, Field(2, Kind.INT32)), Field(129, Kind.INT32))
    )
    unit.use(message)
    unit.check(wire.encode(message, {1: 3, 65: [{1: 1, 2: 2}]}))
    unit.check(entries(65, b"\x08\x01\x10\x02", message=message) * 3 + wire.encode(message, {129: 1}))


@pytest.mark.parametrize(
    ("entry", "status"),
    [
        ("1801", "unsupported"),
        ("0801", "unsupported"),
        ("0b0c", "unsupported"),
        ("0a0161 1801", "unsupported"),
        ("0a01ff", "malformed"),
        ("1202c328", "malformed"),
        ("0a02 61", "malformed"),
        ("0a", "malformed"),
        ("0001", "malformed"),
        ("0c", "malformed"),
    ],
)
def test_entries_that_are_foreign_or_wrong(unit: Deserializer, entry: str, status: str) -> None:
    unit.use(TREE)
    wrong = entries(3, bytes.fromhex(entry))
    for before in (b"", entries(3, pair(b"a", b"b")), wire.encode(TREE, {5: [1], 4: [{1: True, 2: 3}]})):
        assert unit.check(before + wrong).status == status
        assert unit.check(before + wrong + before).status == status


def test_closed_enums(unit: Deserializer) -> None:
    unit.use(TREE)
    assert unit.check(entries(4, b"\x08\x01\x10\x05")).status == "ok"
    assert unit.check(entries(4, b"\x08\x01\x10\x06")).status == "unsupported"
    assert unit.check(entries(4, b"\x10\x06\x08\x01")).status == "unsupported"


def test_a_map_that_is_not_finished_stays_empty(unit: Deserializer) -> None:
    """So that the library may clear the object, and read the input itself."""
    unit.use(TREE)
    source = unit.unit.load(entries(3, *[pair(b"a", b"b")] * 9) + b"\x00")
    target = unit.target()
    before = unit.unit.read(target)
    unit.give_regions()
    unit.start(source, target)
    assert unit.unit.query(WAIT, max_cycles=HUNG) == 1 + STATUS_NAMES.index("malformed")
    place = TREE.slots[3].offset
    there = slice(place, place + MapField.BYTES)
    assert unit.unit.read(target)[there] == before[there]


GOOD = wire.encode(
    TREE,
    {
        2: [{1: i, 2: {3: [{1: b"k", 2: b"v" * 20}]}} for i in range(2)],
        3: [{1: b"key%d" % i, 2: b"v" * i} for i in range(9)],
        4: [{1: True, 2: 5}],
        5: [1, 2, 3],
    },
)


def test_every_prefix(unit: Deserializer) -> None:
    unit.use(TREE)
    for length in range(len(GOOD)):
        unit.check(GOOD[:length])


def test_every_region_too_small(unit: Deserializer) -> None:
    statuses: list[str] = []
    for array_bytes in range(0, 1200, 32):
        unit.use(TREE)
        unit.place_regions(1 << 14, array_bytes)
        statuses.append(unit.parse(GOOD).status)
    for object_bytes in range(0, 8000, 112):
        unit.use(TREE)
        unit.place_regions(object_bytes, 4096)
        statuses.append(unit.parse(GOOD).status)
    assert set(statuses) == {"ok", "output_full"}
    unit.use(TREE)
    assert unit.check(GOOD).status == "ok"


@pytest.mark.parametrize("which", ["target", "arrays", "objects"])
def test_faults_of_memory(unit: Deserializer, which: str) -> None:
    again = GOOD + entries(3, pair(b"again", b""))
    offsets = {
        "target": [TREE.slots[3].offset + MapField.REPEATED, TREE.slots[3].offset + MapField.STATE],
        "arrays": [8, 16, 32, 40],
        "objects": range(0, 1024, 128),
    }
    for offset in offsets[which]:
        unit.use(TREE)
        source, target = unit.unit.load(again), unit.target()
        place = target if which == "target" else getattr(unit, which)
        unit.unit.bench.fault(place.address + offset, 8)
        unit.give_regions()
        unit.start(source, target)
        assert unit.unit.query(WAIT, max_cycles=HUNG) == 1 + STATUS_NAMES.index("access_fault")
        assert unit.unit.violations == 0
    unit.use(TREE)
    assert unit.check(again).status == "ok"


def test_narrow_port() -> None:
    narrow = Deserializer({"port-bytes": 16})
    narrow.use(TREE)
    for rounds in (1, 2, 5):
        narrow.check(GOOD * rounds)
    narrow.check(entries(3, *[pair(b"k%d" % i, b"v") for i in range(100)]))
