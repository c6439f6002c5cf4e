"""The deserializer on everything that is more than a scalar: strings, messages, repeated fields, oneofs."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from protobuf_deserializer import Deserializer

from rackwright.verification import protobuf_wire as wire
from rackwright.verification.protobuf_schema import FORMATS, Field, Kind, Message

NOISE = random.Random(7)

STRING_LENGTHS = [0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 47, 48, 100, 255, 4096, 4097]

LEAF = Message("Leaf", (Field(1, Kind.INT32), Field(2, Kind.STRING, utf8=True), Field(5, Kind.INT64)))


def node() -> Message:
    """The type of a tree."""
    return NODE


NODE = Message(
    "Node",
    (
        Field(1, Kind.INT32),
        Field(2, Kind.MESSAGE, message=node),
        Field(3, Kind.MESSAGE, message=node, repeated=True),
        Field(4, Kind.STRING),
        Field(6, Kind.SINT64, repeated=True, packed=True),
        Field(7, Kind.STRING, repeated=True),
        Field(8, Kind.MESSAGE, message=lambda: LEAF),
        Field(9, Kind.UINT32, repeated=True),
    ),
)


@pytest.fixture(scope="module")
def unit() -> Deserializer:
    """A deserializer as it is built by default."""
    return Deserializer()


@pytest.mark.parametrize("length", STRING_LENGTHS)
def test_a_string_of_each_length(unit: Deserializer, length: int) -> None:
    message = Message("Texts", (Field(1, Kind.BYTES), Field(2, Kind.STRING, implicit=True)))
    unit.use(message)
    content = NOISE.randbytes(length)
    for misalignment in (0, 5, 15):
        unit.check(wire.encode(message, {1: content, 2: content[:20]}), misalignment)


@pytest.mark.parametrize("kind", list(FORMATS), ids=lambda kind: kind.name)
def test_repeated_scalars_in_either_form(unit: Deserializer, kind: Kind) -> None:
    values = [wire.scalar(kind, value) for value in ([True, False] if kind is Kind.BOOL else [0, 1, 77, 3])]
    message = Message("Lists", tuple(Field(n, kind, repeated=True, packed=n == 1) for n in (1, 2)))
    unit.use(message)
    for count in (0, 1, 2, 6, 7, 50):
        items = [values[i % len(values)] for i in range(count)]
        unpacked = b"".join(wire.tag(2, wire.wire_type(kind)) + item for item in items)
        unit.check(unpacked)
        unit.check(wire.delimited(1, b"".join(items)))
        unit.check(wire.delimited(2, b"".join(items)) + unpacked + wire.delimited(2, b"".join(items)))


def test_repeated_fields_in_turns(unit: Deserializer) -> None:
    message = Message("Turns", tuple(Field(n, k, repeated=True) for n, k in enumerate(FORMATS, 1)))
    unit.use(message)
    for rounds in (1, 2, 9):
        fields = [wire.encode_field(field, [1] * (1 + field.number % 3)) for field in message.fields]
        unit.check(b"".join(fields) * rounds)


@pytest.mark.parametrize("count", [1, 7, 8, 40])
def test_repeated_strings_and_messages(unit: Deserializer, count: int) -> None:
    unit.use(NODE)
    value: dict[int, list[Any]] = {
        3: [{1: i, 4: NOISE.randbytes(i), 6: list(range(i % 5))} for i in range(count)],
        7: [NOISE.randbytes(3 * i) for i in range(count)],
    }
    unit.check(wire.encode(NODE, value))
    single = b"".join(wire.encode(NODE, {7: [value[7][i]], 3: [value[3][i]]}) for i in range(count))
    unit.check(single)


def test_messages_within_messages(unit: Deserializer) -> None:
    unit.use(NODE)
    inner: wire.Value = {1: 5}
    for depth in range(1, 28):
        inner = {1: depth, 2: inner, 6: [depth] * (depth % 4), 4: b"x" * depth}
        unit.check(wire.encode(NODE, inner))


def test_empty_messages(unit: Deserializer) -> None:
    unit.use(NODE)
    values: tuple[wire.Value, ...] = ({}, {2: {}}, {3: [{}, {}, {}]}, {2: {2: {2: {}}}}, {8: {}})
    for value in values:
        unit.check(wire.encode(NODE, value))


@pytest.mark.parametrize("types", [2, 8, 9, 20])
def test_messages_of_many_types_in_turns(unit: Deserializer, types: int) -> None:
    """The headers of eight types are kept."""
    inner = [Message(f"Inner{n}", tuple(Field(i, Kind.INT32) for i in range(1, n + 2))) for n in range(types)]
    fields = [
        Field(n, Kind.MESSAGE, repeated=True, message=partial(inner.__getitem__, n - 1))
        for n in range(1, types + 1)
    ]
    message = Message("Many", tuple(fields))
    unit.use(message)
    unit.check(b"".join(wire.encode(message, {n: [{n: n}]}) for n in range(1, types + 1)) * 3)


def test_what_occurs_twice(unit: Deserializer) -> None:
    unit.use(NODE)
    first = wire.encode(
        NODE, {1: 1, 4: b"first", 8: {1: 1, 2: b"a" * 20}, 2: {6: [1, 2, 3], 3: [{1: 1}], 4: b"x"}}
    )
    second = wire.encode(NODE, {1: 2, 4: b"the second one", 8: {5: 6}, 2: {6: [4], 3: [{1: 2}, {}], 1: 8}})
    unit.check(first + second)
    unit.check(second + first + second)
    unit.check(second + wire.encode(NODE, {3: [{}]}) + first)


def test_oneof(unit: Deserializer) -> None:
    kinds = (Kind.INT32, Kind.STRING, Kind.DOUBLE, Kind.BOOL, Kind.BYTES, Kind.SINT64)
    members = [Field(n, kind, oneof=0) for n, kind in enumerate(kinds, 2)]
    members += [Field(20, Kind.MESSAGE, oneof=0, message=lambda: LEAF)]
    message = Message("Choice", (Field(1, Kind.INT32), *members, Field(21, Kind.BOOL, oneof=1)))
    unit.use(message)
    samples = {2: -1, 3: b"text", 4: 0.0, 5: True, 6: b"y" * 40, 7: 0, 20: {1: 4, 2: b"leaf"}, 21: False}
    for first in samples:
        for second in samples:
            pair = [wire.encode(message, {number: samples[number]}) for number in (first, second)]
            unit.check(b"".join(pair))
            unit.check(pair[0] + pair[1] + pair[0] + wire.encode(message, {1: 3}) + pair[1])


@pytest.mark.parametrize("count", [31, 33, 128, 129, 300])
def test_many_presence_bits_in_any_order(unit: Deserializer, count: int) -> None:
    message = Message("Wide", tuple(Field(n, Kind.BOOL) for n in range(1, count + 1)))
    unit.use(message)
    for _ in range(3):
        numbers = NOISE.sample(range(1, count + 1), count // 2)
        unit.check(b"".join(wire.encode(message, {n: NOISE.random() < 0.5}) for n in numbers))


def test_field_numbers_far_apart(unit: Deserializer) -> None:
    numbers = (900, 901, 964, 965, 2000, 4500)
    message = Message("Sparse", tuple(Field(n, Kind.INT32, repeated=n % 2 == 0) for n in numbers))
    unit.use(message)
    unit.check(wire.encode(message, {n: [n, -n] if n % 2 == 0 else n for n in numbers}))
    for number in (1, 899, 902, 4501, 1 << 28):
        unit.check(wire.tag(number, wire.VARINT) + b"\x01")


CLOSED_ENUMS = {
    "in a row": range(-3, 10),
    "with gaps": {-1, 0, 2, 3, 7, 38},
    "at the least that a map can tell of": range(-128, -88),
    "at the most": {127, 166},
    "a value too wide for a map": {127, 167},
    "three hundred with gaps": range(1, 900, 3),
    "by thousands": {1000 * group + value for group in range(-3, 30) for value in range(5)},
    "flags": {0, *(1 << bit for bit in range(31)), -(1 << 31)},
    "far apart": {NOISE.randrange(-(1 << 31), 1 << 31) for _ in range(300)},
    "blocks that share one place": {(block ^ block >> 7) << 6 for block in range(0, 1 << 12, 1 << 6)},
}


@pytest.mark.parametrize("name", CLOSED_ENUMS)
def test_closed_enum(unit: Deserializer, name: str) -> None:
    values = frozenset(CLOSED_ENUMS[name])
    field = Field(1, Kind.ENUM, enum_values=values)
    fields = (field, replace(field, number=2, repeated=True), replace(field, number=3, oneof=0))
    message = Message("Enums", fields)
    unit.use(message)
    known = sorted(values)
    chosen = [*NOISE.sample(known, min(20, len(known))), known[0], known[-1]]
    runs = {1: chosen[0], 2: chosen, 3: chosen[-1]}
    outcome = unit.check(wire.encode(message, runs))
    assert outcome.status == "ok"
    packed = wire.delimited(2, b"".join(wire.scalar(Kind.ENUM, number) for number in chosen))
    assert unit.check(packed + wire.encode(message, {1: chosen[0]})).status == "ok"
    beside = {number + step for number in known for step in (-1, 1, 64, 256)}
    inside = sorted(number for number in beside if -(1 << 31) <= number < 1 << 31)
    for number in [*NOISE.sample(inside, 5), -(1 << 31), (1 << 31) - 1, 1 << 23, -2]:
        for data in (wire.encode(message, {1: number}), wire.delimited(2, wire.scalar(Kind.ENUM, number))):
            status = unit.check(data).status
            assert (status == "ok") == (number in values)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain",
        "é",
        "ß" * 20,
        "€" * 11,
        "𝄞" * 9,
        "a" * 15 + "é",
        "a" * 16 + "é",
        "\0",
        "a" * 14 + "\U0010ffff",
    ],
)
def test_utf8_that_is_right(unit: Deserializer, text: str) -> None:
    unit.use(LEAF)
    assert unit.check(wire.delimited(2, text.encode())).status == "ok"


@pytest.mark.parametrize(
    "wrong",
    [
        "80",
        "c0af",
        "c2",
        "e08080",
        "e0a0",
        "eda080",
        "f0808080",
        "f09d84",
        "f4908080",
        "f5808080",
        "ff",
        "c328",
    ],
)
@pytest.mark.parametrize("before", [0, 1, 12, 13, 14, 15, 16, 17, 31, 32, 33])
def test_utf8_that_is_wrong(unit: Deserializer, wrong: str, before: int) -> None:
    unit.use(LEAF)
    content = b"a" * before + bytes.fromhex(wrong)
    assert unit.check(wire.delimited(2, content)).status == "malformed"
    assert unit.check(wire.delimited(2, content + b"a" * before)).status == "malformed"
