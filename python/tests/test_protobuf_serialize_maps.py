"""Maps through the serializer: hash tables in any order, in either of the forms that the library keeps."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from protobuf_samples import SAMPLES
from protobuf_serializer import FEW_ENTRIES, Serializer

from rackwright.verification.protobuf_schema import (
    KEY_KINDS,
    Field,
    Kind,
    MapField,
    MapState,
    Message,
    map_field,
)

NUMBERS = [kind for kind in KEY_KINDS if kind in SAMPLES]
NUMBER = Field(2, Kind.INT32)
TEXT = Field(2, Kind.STRING)


@pytest.fixture(scope="module", params=[{}, FEW_ENTRIES], ids=["default", "small"])
def any_unit(request: pytest.FixtureRequest) -> Serializer:
    return Serializer(request.param)


@pytest.fixture(scope="module")
def unit() -> Serializer:
    return Serializer()


@pytest.fixture(params=list(MapState), ids=lambda state: state.name)
def state(request: pytest.FixtureRequest) -> MapState:
    return MapState(request.param)


def holder(*maps: Field) -> Message:
    """A message with these maps between two other fields."""
    return Message("Holder", (Field(1, Kind.INT32), *maps, Field(30, Kind.STRING)))


def check(unit: Serializer, message: Message, value: dict[int, Any], state: MapState) -> int:
    """Serializes an object as the library does; gives the cycles."""
    unit.use(message)
    unit.builder.map_state = state
    return unit.check({1: 5, 30: b"end", **value}).cycles


def entries(keys: list[Any], values: list[Any]) -> list[dict[int, Any]]:
    """Entries of a map."""
    return [{1: key, 2: value} for key, value in zip(keys, values, strict=True)]


@pytest.mark.parametrize("kind", NUMBERS, ids=lambda kind: kind.name)
def test_numbers_are_sorted_as_their_type_says(unit: Serializer, kind: Kind, state: MapState) -> None:
    keys = list(SAMPLES[kind])
    random.Random(kind).shuffle(keys)
    check(unit, holder(map_field(3, kind, NUMBER)), {3: entries(keys, list(range(len(keys))))}, state)


@pytest.mark.parametrize("kind", list(SAMPLES), ids=lambda kind: kind.name)
def test_values_of_every_type(unit: Serializer, kind: Kind, state: MapState) -> None:
    values = SAMPLES[kind]
    message = holder(map_field(3, Kind.INT32, Field(2, kind)))
    check(unit, message, {3: entries(list(range(len(values))), values)}, state)


STRINGS = [
    b"",
    b"\0",
    b"a",
    b"a\0",
    b"a\0b",
    b"ab",
    b"\xc3\xa9",
    b"\x7f",
    b"12345678",
    b"1234567",
    b"123456789",
    b"12345678\0",
    b"12345678\xff",
    b"a prefix that many keys have: 1",
    b"a prefix that many keys have: 2",
    b"a prefix that many keys have: 10",
    b"a prefix that many keys have",
    b"a prefix that many keys have: 1, and more",
    bytes(100),
    bytes(101),
]


@pytest.mark.parametrize("seed", range(4))
def test_strings_are_sorted_by_bytes(unit: Serializer, seed: int, state: MapState) -> None:
    keys = list(STRINGS)
    random.Random(seed).shuffle(keys)
    values = [b"value of " + key for key in keys]
    check(unit, holder(map_field(3, Kind.STRING, TEXT)), {3: entries(keys, values)}, state)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 8])
def test_any_number_of_elements(any_unit: Serializer, count: int, state: MapState) -> None:
    keys = random.Random(count).sample(range(1000), count)
    check(any_unit, holder(map_field(3, Kind.SINT64, TEXT)), {3: entries(keys, [b"v"] * count)}, state)


def test_as_many_as_there_is_room_for(unit: Serializer, state: MapState) -> None:
    keys = random.Random(1).sample(range(10_000), 128)
    check(unit, holder(map_field(3, Kind.FIXED32, NUMBER)), {3: entries(keys, keys)}, state)


def test_messages_and_maps_within_maps(any_unit: Serializer, state: MapState) -> None:
    leaf = Message("Leaf", (Field(1, Kind.INT32), map_field(2, Kind.STRING, NUMBER), Field(3, Kind.STRING)))
    trunk = Message("Trunk", (map_field(4, Kind.BOOL, Field(2, Kind.MESSAGE, message=lambda: leaf)),))
    message = holder(
        map_field(3, Kind.UINT32, Field(2, Kind.MESSAGE, message=lambda: trunk)),
        map_field(7, Kind.BOOL, TEXT),
    )
    small = {1: 9, 2: entries([b"x", b"a"], [1, 2]), 3: b"leaf"}
    branches = entries([True, False], [small, {}])
    value = {3: entries([7, 1, 3], [{4: branches}, {}, {4: branches[:1]}]), 7: entries([True], [b"t"])}
    check(any_unit, message, value, state)


def status_of(unit: Serializer, address: int) -> str:
    return unit.serialize(address, 4096).status


@pytest.mark.parametrize(
    "keys", [[3, 1, 3], [b"same", b"other", b"same"], [b"a long key, twice", b"a long key, twice"]]
)
def test_the_library_says_which_of_two_entries_counts(unit: Serializer, keys: list[Any]) -> None:
    kind = Kind.INT32 if isinstance(keys[0], int) else Kind.STRING
    unit.use(holder(map_field(3, kind, NUMBER)))
    unit.builder.map_state = MapState.REPEATED
    address = unit.builder.message(unit.message, {3: entries(keys, [0] * len(keys))})
    assert status_of(unit, address) == "unsupported"


@pytest.mark.parametrize("count", [9, 20])
def test_more_elements_than_there_is_room_for(count: int, state: MapState) -> None:
    unit = Serializer(FEW_ENTRIES)
    unit.use(holder(map_field(3, Kind.INT32, NUMBER)))
    unit.builder.map_state = state
    numbers = list(range(count))
    address = unit.builder.message(unit.message, {3: entries(numbers, numbers)})
    assert status_of(unit, address) == "unsupported"
    check(unit, holder(map_field(3, Kind.INT32, NUMBER)), {3: entries(numbers[:8], numbers[:8])}, state)


def test_an_entry_without_its_message_is_left_to_the_library(unit: Serializer) -> None:
    empty = Message("Empty", ())
    unit.use(holder(map_field(3, Kind.INT32, Field(2, Kind.MESSAGE, message=lambda: empty))))
    unit.builder.map_state = MapState.REPEATED
    address = unit.builder.message(unit.message, {3: [{1: 1}]})
    assert status_of(unit, address) == "unsupported"


def changed(unit: Serializer, offset: int, word: int, size: int = 8) -> str:
    """The status after a word of the map object of a sound message was changed."""
    message = holder(map_field(3, Kind.STRING, NUMBER))
    unit.use(message)
    address = unit.builder.message(message, {3: entries([b"one", b"two"], [1, 2])})
    place = address + message.slots[3].offset + offset
    unit.unit.bench.write_memory(place, word.to_bytes(size, "little"))
    return status_of(unit, address)


def test_objects_that_no_library_makes(unit: Serializer) -> None:
    table = MapField.TABLE
    assert changed(unit, MapField.STATE, 3, 4) == "unsupported"
    assert changed(unit, MapField.STATE, 1, 4) == "access_fault"  # no repeated field
    assert changed(unit, table + 8, 7) == "unsupported"
    assert changed(unit, table + 8, 1 << 40) == "unsupported"
    assert changed(unit, table + 24, 1 << 30) == "unsupported"
    assert changed(unit, table + 32, 0) == "access_fault"
    assert changed(unit, table + 32, 0x1234) == "access_fault"
    assert changed(unit, table + 32, 1 << 50) == "access_fault"


def node_of(unit: Serializer, message: Message, address: int) -> tuple[int, int, int]:
    """The first node of a map, the bucket that points to it, and the other one of that pair."""
    field = address + message.slots[3].offset
    read = unit.unit.bench.read_memory
    first = int.from_bytes(read(field + MapField.TABLE + 24, 8), "little")
    table = int.from_bytes(read(field + MapField.TABLE + 32, 8), "little")
    bucket = table + 8 * first
    return int.from_bytes(read(bucket, 8), "little"), bucket, table + 8 * (first ^ 1)


def with_node(unit: Serializer, change: Callable[[int, int, int], tuple[int, int]]) -> str:
    """The status after a word of a map of strings was changed: `node_of` to address and word."""
    message = holder(map_field(3, Kind.STRING, NUMBER))
    unit.use(message)
    address = unit.builder.message(message, {3: entries([b"one", b"a key of many bytes"], [1, 2])})
    place, word = change(*node_of(unit, message, address))
    unit.unit.bench.write_memory(place, word.to_bytes(8, "little"))
    return status_of(unit, address)


def test_trees_are_left_to_the_library(unit: Serializer) -> None:
    assert with_node(unit, lambda node, bucket, twin: (twin, node)) == "unsupported"


def test_nodes_in_a_circle_come_to_an_end(unit: Serializer) -> None:
    assert with_node(unit, lambda node, bucket, _: (node + 40, node)) == "unsupported"


def test_nodes_that_can_not_be(unit: Serializer) -> None:
    assert with_node(unit, lambda node, bucket, _: (bucket, node + 4)) == "access_fault"
    assert with_node(unit, lambda node, bucket, _: (bucket, 1 << 60)) == "access_fault"
    assert with_node(unit, lambda node, bucket, _: (node + 40, 12)) == "access_fault"
    assert with_node(unit, lambda node, bucket, _: (node, 1 << 48)) == "access_fault"
    assert with_node(unit, lambda node, bucket, _: (node, node + 3)) == "unsupported"
    assert with_node(unit, lambda node, bucket, _: (node + 8, 1 << 31)) == "unsupported"


@pytest.mark.parametrize("faulty", [MapState.TABLE, MapState.REPEATED])
def test_a_fault_anywhere_ends_the_request(unit: Serializer, faulty: MapState) -> None:
    message = holder(map_field(3, Kind.STRING, TEXT))
    value = entries([b"short", b"a key of many bytes", b"a key of many bytes, too"], [b"1", b"2", b"3" * 50])

    def build() -> int:
        unit.use(message)
        unit.builder.map_state = faulty
        return unit.builder.message(message, {3: value})

    build()
    faults = 0
    for start, length in list(unit.pool.ranges):
        address = build()
        unit.unit.bench.fault(start, length)
        status = status_of(unit, address)
        assert status in ("access_fault", "ok")
        faults += status == "access_fault"
    assert faults > 8
    assert status_of(unit, build()) == "ok"
