"""The serializer against the encoding of the same values: every kind of field, alone and together."""

from __future__ import annotations

import pytest
from protobuf_samples import SAMPLES
from protobuf_serializer import VERSION, Serializer
from tiers import long

from rackwright.verification.protobuf_schema import FORMATS, Field, Kind, Message

LENGTHS = [0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 200, 1000, 4096, 20_000]
"""Around what lies in a string object, beats, lines, and the bytes of a length."""

each_scalar = pytest.mark.parametrize("kind", list(FORMATS), ids=lambda kind: kind.name)
each_width = pytest.mark.parametrize(
    "port_bytes", [32, long(16, why="the largest serializer has this port, in tests of queues and sizes")]
)


@pytest.fixture(scope="module")
def unit() -> Serializer:
    """A serializer as it is built by default."""
    return Serializer()


def pattern(length: int) -> bytes:
    """Bytes that are nowhere the same as a few places on."""
    return bytes((index * 7 + index // 251) % 256 for index in range(length))


def test_version(unit: Serializer) -> None:
    assert unit.unit.query(VERSION) == 2


@each_scalar
@pytest.mark.parametrize("implicit", [False, True], ids=["presence", "no presence"])
def test_every_scalar_type(unit: Serializer, kind: Kind, implicit: bool) -> None:
    values = SAMPLES[kind]
    fields = tuple(Field(number, kind, implicit=implicit) for number in range(1, len(values) + 1))
    unit.use(Message("Scalars", fields))
    everything = dict(enumerate(values, 1))
    if implicit:
        zero = b"" if kind is Kind.BOOL else None
        everything = {
            n: v for n, v in everything.items() if repr(v) not in ("0", "0.0", "False") and v != zero
        }
    unit.check(everything)
    last = {len(values): values[-1]}
    unit.check(last)


@pytest.mark.parametrize(
    "number", [1, 15, 16, 2047, 2048, 262_143, 262_144, 33_554_431, 33_554_432, (1 << 29) - 1]
)
def test_field_numbers_of_every_length(unit: Serializer, number: int) -> None:
    unit.use(Message("Far", (Field(number, Kind.INT32), Field(number - 1 or 2, Kind.FIXED64))))
    unit.check({number: 300, number - 1 or 2: 7})


@pytest.mark.parametrize("gap", [0, 1, 20, 63, 64, 100])
def test_hasbits_far_apart(unit: Serializer, gap: int) -> None:
    """Some fields at a time, of which some follow each other and some don't."""
    message = Message("Wide", tuple(Field(n, Kind.UINT32) for n in range(1, 41)), hasbit_gap=gap)
    unit.use(message)
    for step in (1, 2, 3, 7, 39):
        unit.check({n: n * 100 for n in range(1, 41, step)})
        unit.check({n: n * 100 for n in range(2, 41, step)})
    unit.check({})


@each_width
@pytest.mark.parametrize("kind", [Kind.STRING, Kind.BYTES])
def test_strings(kind: Kind, port_bytes: int) -> None:
    unit = Serializer({"port-bytes": port_bytes})
    unit.use(Message("Strings", (Field(1, kind), Field(2, Kind.INT32), Field(900, kind, implicit=True))))
    for length in LENGTHS:
        for misalignment in (0, 1, 13, 31):
            unit.check({1: pattern(length)}, misalignment)
        unit.check({1: pattern(length), 2: length, **({900: pattern(length)} if length else {})})


def test_an_empty_string_without_presence_is_not_written(unit: Serializer) -> None:
    unit.use(
        Message("Implicit", (Field(1, Kind.STRING, implicit=True), Field(2, Kind.STRING, implicit=True)))
    )
    address = unit.builder.message(unit.message, {1: b"", 2: b"x"})
    assert unit.serialize(address, 100).data == b"\x12\x01x"
    unit.check({})


INNER = Message("Inner", (Field(1, Kind.INT32), Field(2, Kind.STRING)))


@pytest.mark.parametrize("implicit", [False, True])
def test_messages_within_messages(unit: Serializer, implicit: bool) -> None:
    middle = Message(
        "Middle", (Field(3, Kind.MESSAGE, message=lambda: INNER, implicit=implicit), Field(4, Kind.DOUBLE))
    )
    fields = (
        Field(1, Kind.MESSAGE, message=lambda: middle, implicit=implicit),
        Field(2, Kind.MESSAGE, message=lambda: INNER, implicit=implicit),
        Field(3, Kind.INT64),
        Field(4, Kind.MESSAGE, message=lambda: INNER, implicit=implicit),
    )
    unit.use(Message("Outer", fields))
    unit.check({1: {}})
    unit.check({2: {}, 3: 5})
    unit.check({1: {3: {1: 5, 2: b"abc"}, 4: 2.5}, 2: {2: b"d" * 300}, 3: -1, 4: {1: 0}})
    unit.check({4: {1: 1}, 1: {3: {}}})


def test_a_message_that_holds_itself(unit: Serializer) -> None:
    def itself() -> Message:
        return chain

    chain = Message("Chain", (Field(1, Kind.INT32), Field(2, Kind.MESSAGE, message=itself)))
    unit.use(chain)
    value: dict[int, object] = {1: 0}
    for depth in range(1, 25):
        value = {1: depth, 2: value}
        if depth in (1, 2, 12, 24):
            unit.check(value)
    address = unit.builder.message(chain, {2: value})
    assert unit.serialize(address, 1000).status == "unsupported"
    unit.check(value)


@each_scalar
@pytest.mark.parametrize("packed", [False, True], ids=["unpacked", "packed"])
@each_width
def test_repeated_scalars(kind: Kind, packed: bool, port_bytes: int) -> None:
    unit = Serializer({"port-bytes": port_bytes})
    fields = (Field(1, kind, repeated=True, packed=packed), Field(77, kind, repeated=True, packed=packed))
    unit.use(Message("Repeated", fields))
    samples = SAMPLES[kind]
    for count in (1, 2, 3, 5, 16, 33, 200):
        values = [samples[index % len(samples)] for index in range(count)]
        unit.check({1: values}, count % 32)
        unit.check({1: values, 77: list(reversed(values))})
    unit.check({77: samples})


def test_repeated_strings_and_messages(unit: Serializer) -> None:
    fields = (
        Field(1, Kind.STRING, repeated=True),
        Field(2, Kind.MESSAGE, repeated=True, message=lambda: INNER),
        Field(3, Kind.BOOL),
    )
    unit.use(Message("Lists", fields))
    for count in (1, 2, 3, 4, 5, 9, 20):
        strings = [pattern(index * 5) for index in range(count)]
        messages = [{1: index, 2: pattern(index)} if index % 3 else {} for index in range(count)]
        unit.check({1: strings})
        unit.check({2: messages})
        unit.check({1: strings, 2: messages, 3: True})


def test_messages_repeated_within_repeated_messages(unit: Serializer) -> None:
    leaf = Message(
        "Leaf", (Field(1, Kind.INT32, repeated=True, packed=True), Field(2, Kind.STRING, repeated=True))
    )
    branch = Message(
        "Branch", (Field(1, Kind.MESSAGE, repeated=True, message=lambda: leaf), Field(2, Kind.INT32))
    )
    unit.use(Message("Tree", (Field(1, Kind.MESSAGE, repeated=True, message=lambda: branch),)))
    leaves = [{1: list(range(n)), 2: [b"x" * n] * n} if n else {} for n in range(4)]
    unit.check({1: [{1: leaves[:n], 2: n} for n in range(5)]})


def test_oneof(unit: Serializer) -> None:
    fields = (
        Field(1, Kind.INT32, oneof=0),
        Field(2, Kind.STRING, oneof=0),
        Field(3, Kind.MESSAGE, oneof=0, message=lambda: INNER),
        Field(4, Kind.DOUBLE, oneof=1),
        Field(5, Kind.BOOL, oneof=0),
        Field(6, Kind.SINT64, oneof=1),
        Field(7, Kind.INT32),
    )
    unit.use(Message("Choice", fields))
    values = {1: 0, 2: b"", 3: {}, 4: 0.0, 5: False, 6: 0}
    for number, value in values.items():
        unit.check({number: value})
        unit.check({number: value, 7: 1, **({4: 1.5} if number not in (4, 6) else {})})
    unit.check({3: {2: b"deep"}, 6: -5})


def test_a_large_object(unit: Serializer) -> None:
    """Far more than what is kept on chip of an object."""
    kinds = [Kind.FIXED64, Kind.STRING, Kind.INT32, Kind.MESSAGE, Kind.INT64]
    fields = tuple(Field(n, kinds[n % 5], message=lambda: INNER) for n in range(1, 1001))
    unit.use(Message("Large", fields))
    samples = {
        Kind.FIXED64: 5,
        Kind.STRING: b"text",
        Kind.INT32: -3,
        Kind.MESSAGE: {1: 1},
        Kind.INT64: 1 << 50,
    }
    unit.check({item.number: samples[item.kind] for item in fields})
    unit.check({item.number: samples[item.kind] for item in fields if item.number % 97 == 0})
