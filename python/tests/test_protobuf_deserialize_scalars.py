"""The deserializer on messages of scalars: every type, every length, presence, and where messages end."""

from __future__ import annotations

from typing import Any

import pytest
from protobuf_deserializer import VERSION, Deserializer

from rackwright.verification import protobuf_wire as wire
from rackwright.verification.protobuf_schema import FORMATS, Field, Kind, Message

VARINTS = [0, 1, 127, 128, 300, (1 << 21) - 1, 1 << 28, (1 << 31) - 1]
SIGNED = [-1, -2, -(1 << 31)]
WIDE = [1 << 32, (1 << 56) + 5, (1 << 63) - 1]

SAMPLES: dict[Kind, list[Any]] = {
    Kind.DOUBLE: [0.0, -0.0, 1.5, float("inf"), float("nan"), 5e-324],
    Kind.FLOAT: [0.0, -0.0, 1.5, float("-inf"), float("nan")],
    Kind.INT64: VARINTS + SIGNED + WIDE + [-(1 << 63)],
    Kind.UINT64: [*VARINTS, *WIDE, (1 << 64) - 1],
    Kind.INT32: VARINTS + SIGNED,
    Kind.FIXED64: [0, 1, (1 << 64) - 1],
    Kind.FIXED32: [0, 1, (1 << 32) - 1],
    Kind.BOOL: [False, True],
    Kind.UINT32: [*VARINTS, (1 << 32) - 1],
    Kind.ENUM: VARINTS + SIGNED,
    Kind.SFIXED32: [0, -1, -(1 << 31)],
    Kind.SFIXED64: [0, -1, -(1 << 63)],
    Kind.SINT32: VARINTS + SIGNED,
    Kind.SINT64: VARINTS + SIGNED + WIDE + [-(1 << 63)],
}


@pytest.fixture(scope="module")
def unit() -> Deserializer:
    """A deserializer as it is built by default."""
    return Deserializer()


@pytest.mark.parametrize("kind", list(FORMATS), ids=lambda kind: kind.name)
@pytest.mark.parametrize("implicit", [False, True], ids=["presence", "no presence"])
def test_every_scalar_type(unit: Deserializer, kind: Kind, implicit: bool) -> None:
    values = SAMPLES[kind]
    fields = tuple(Field(number, kind, implicit=implicit) for number in range(1, len(values) + 1))
    message = Message("Scalars", fields)
    unit.use(message)
    unit.check(wire.encode(message, dict(enumerate(values, 1))))
    unit.check(wire.encode(message, {len(values): values[-1]}))


def test_version(unit: Deserializer) -> None:
    assert unit.unit.query(VERSION) == 1
