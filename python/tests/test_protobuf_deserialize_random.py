"""The deserializer on random types and messages, on any bytes at all, and on messages with changed bytes."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protobuf_deserializer import Deserializer
from protobuf_random import random_scalar

from rackwright.verification import protobuf_wire as wire
from rackwright.verification.protobuf_schema import FORMATS, KEY_KINDS, Field, Kind, Message, map_field

SEEDS = st.integers(0, 2**64 - 1).map(random.Random)

LARGE_REGION = 1 << 20
"""More than any message here needs: an object with a dozen maps has 2 KiB."""


@pytest.fixture(scope="module")
def unit() -> Deserializer:
    """A deserializer as it is built by default."""
    return Deserializer()


def random_type(source: random.Random, depth: int) -> Message:
    """A message type of up to a dozen fields, whose messages are of types of their own or of its own."""
    fields: list[Field] = []
    inner: dict[int, Message] = {}
    number = 0
    for _ in range(source.randrange(13)):
        number += source.choice((1, 1, 1, 2, 40))
        kind = source.choice([*FORMATS, Kind.STRING, Kind.BYTES, Kind.MESSAGE, Kind.MESSAGE])
        if kind is Kind.MESSAGE and depth:
            inner[number] = random_type(source, depth - 1)
        make = random_map if source.random() < 0.2 else random_field
        fields.append(make(source, number, kind, partial(_type_of, inner, number)))
    inner[0] = Message(f"Random{depth}", tuple(fields), hasbit_gap=source.choice((0, 0, 1, 40)))
    return inner[0]


def random_field(source: random.Random, number: int, kind: Kind, message: Callable[[], Message]) -> Field:
    """A field of a type, in any form but a map."""
    repeated = source.random() < 0.4
    return Field(
        number,
        kind,
        repeated=repeated,
        packed=source.random() < 0.5,
        implicit=kind is not Kind.MESSAGE and source.random() < 0.5,
        utf8=kind is Kind.STRING and source.random() < 0.5,
        oneof=source.randrange(2) if not repeated and source.random() < 0.3 else None,
        enum_values=random_values(source, kind),
        message=message,
    )


def random_map(source: random.Random, number: int, kind: Kind, message: Callable[[], Message]) -> Field:
    """A map whose values are of a type."""
    key = Kind.STRING if source.random() < 0.3 else source.choice(KEY_KINDS)
    utf8 = kind is Kind.STRING and source.random() < 0.5
    value = Field(2, kind, utf8=utf8, enum_values=random_values(source, kind), message=message)
    return map_field(number, key, value)


def random_values(source: random.Random, kind: Kind) -> frozenset[int] | None:
    """The values of an enum, if it is a closed one: few or many, close to each other or not."""
    if kind is not Kind.ENUM or source.random() < 0.5:
        return None
    spread = source.choice((4, 40, 300, 1 << 31))
    count = source.choice((1, 3, 30, 300))
    return frozenset(source.randrange(-spread, spread) for _ in range(count)) | {0}


def _type_of(types: dict[int, Message], number: int) -> Message:
    """The type of a field that holds messages; where none was made for it, the type that it is in."""
    return types.get(number, types[0])


def random_content(source: random.Random, field: Field, depth: int) -> bytes:
    """What follows the tag of a field."""
    if field.kind is Kind.MESSAGE:
        content = random_message(source, field.message(), depth - 1)
    elif field.kind in (Kind.STRING, Kind.BYTES):
        length = source.choice((0, 3, 15, 16, 40))
        content = b"t" * length if field.utf8 else source.randbytes(length)
    else:
        return wire.scalar(field.kind, random_number(source, field))
    return wire.varint(len(content)) + content


def random_number(source: random.Random, field: Field) -> Any:
    """A value of a field of numbers; of a closed enum nearly always one that it knows."""
    if field.kind is not Kind.ENUM:
        return random_scalar(source, field.kind)
    if field.enum_values is None or source.random() < 0.02:
        return source.randrange(-(1 << 31), 1 << 31)
    return source.choice(sorted(field.enum_values))


def random_message(source: random.Random, message: Message, depth: int) -> bytes:
    """Fields in any order, some of them more than once."""
    if not message.fields or depth == 0:
        return b""
    parts: list[bytes] = []
    for _ in range(source.randrange(12)):
        field = source.choice(message.fields)
        delimited = wire.wire_type(field.kind) == wire.DELIMITED
        if field.repeated and not delimited and source.random() < 0.5:
            run = [random_content(source, field, depth) for _ in range(source.randrange(5))]
            parts.append(wire.delimited(field.number, b"".join(run)))
        else:
            key = wire.tag(field.number, wire.wire_type(field.kind))
            parts.append(key + random_content(source, field, depth))
    return b"".join(parts)


def changed(source: random.Random, data: bytes) -> bytes:
    """The same with a byte changed, missing, doubled, or with its end missing."""
    if not data:
        return source.randbytes(3)
    at = source.randrange(len(data))
    middle = source.choice((bytes([source.randrange(256)]), b"", data[at : at + 1] * 2, b"\x80"))
    end = len(data) if source.random() < 0.7 else source.randrange(at, len(data))
    return data[:at] + middle + data[at + 1 : end]


@given(source=SEEDS)
def test_random_messages_of_random_types(unit: Deserializer, source: random.Random) -> None:
    message = random_type(source, 3)
    unit.use(message, LARGE_REGION)
    for _ in range(4):
        unit.check(random_message(source, message, 6), misalignment=source.randrange(16))


@given(source=SEEDS)
def test_changed_messages(unit: Deserializer, source: random.Random) -> None:
    message = random_type(source, 2)
    unit.use(message, LARGE_REGION)
    for _ in range(6):
        unit.check(changed(source, random_message(source, message, 4)), misalignment=source.randrange(16))


@given(source=SEEDS)
def test_messages_behind_others(unit: Deserializer, source: random.Random) -> None:
    """Small ones and any, right ones and changed ones: each ends as it would alone."""
    message = random_type(source, source.choice((0, 0, 2)))
    unit.use(message, LARGE_REGION)
    for _ in range(2):
        inputs = [random_message(source, message, 4) for _ in range(source.randint(2, 12))]
        wrong = source.choice((0, 0.2, 0.7))
        inputs = [changed(source, each) if source.random() < wrong else each for each in inputs]
        unit.check_together(inputs, misalignment=source.randrange(16))


@given(data=st.binary(max_size=40))
def test_any_bytes(unit: Deserializer, data: bytes) -> None:
    kinds = (Kind.INT32, Kind.FIXED64, Kind.STRING, Kind.FIXED32, Kind.SINT64, Kind.BYTES, Kind.BOOL)
    fields = [Field(n, kind, repeated=n > 7) for n, kind in enumerate(kinds + kinds, 1)]
    message = Message("Any", (*fields, Field(15, Kind.MESSAGE, message=lambda: message)))
    unit.use(message)
    unit.check(data)
