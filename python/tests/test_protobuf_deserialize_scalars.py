"""The deserializer on messages of scalars: every type, every length, presence, and where messages end."""

from __future__ import annotations

import pytest
from protobuf_deserializer import VERSION, Deserializer
from protobuf_samples import SAMPLES

from rackwright.verification import protobuf_wire as wire
from rackwright.verification.protobuf_schema import FORMATS, Field, Kind, Message


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
    assert unit.unit.query(VERSION) == 2
