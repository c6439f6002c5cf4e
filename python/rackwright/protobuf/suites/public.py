"""The suite `public`: schemas in the manner of public ones; a tenth of messages have unknown fields."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable

from rackwright.protobuf import wire
from rackwright.protobuf.suite import MESSAGES, Benchmark, Suite
from rackwright.protobuf.suites.keep import keep_files
from rackwright.protobuf.suites.public_schemas import (
    FIRST_EXTENSION,
    FIRST_UNKNOWN,
    Enum,
    Field,
    Message,
    Schema,
    draw_schema,
    proto_files,
    service_file,
)

SEED = 11
_UNKNOWN = 0.1
_UNKNOWN_VALUE = 0.02
_MOST_FIELDS = 40
"""Fields of a message that are set: of a wide type most are not."""


def public_suite(schemas: int, messages: int = MESSAGES, seed: int = SEED) -> Suite:
    """The given number of schemas, and messages of each; the .proto files are in .build.

    A schema and its messages depend on the seed and its place alone: fewer schemas are the first of more.
    """
    drawn = []
    messages_of = []
    for index in range(schemas):
        draw = random.Random(f"{seed}/{index}")
        schema = draw_schema(f"world.s{index}", draw)
        top = schema.messages[0]
        sent = [_Writer(schema, draw).top() for _ in range(messages)]
        drawn.append(schema)
        messages_of.append((f"schema-{index}", f"{schema.package}.{top.name}", sent))
    root = keep_files(proto_files(drawn))
    benchmarks = [
        Benchmark(name, message, sent, "public", root.parent / service_file(schema))
        for schema, (name, message, sent) in zip(drawn, messages_of, strict=True)
    ]
    return Suite("public", root, benchmarks)


class _Writer:
    """Draws one message; with some probability, one thing in it is unknown."""

    def __init__(self, schema: Schema, draw: random.Random) -> None:
        self._types = {message.name: message for message in schema.messages}
        self._top = schema.messages[0]
        self._draw = draw
        self._has_unknown = draw.random() < _UNKNOWN
        self._has_unknown_value = draw.random() < _UNKNOWN_VALUE

    def top(self) -> bytes:
        return self._message(self._top, 3)

    def _message(self, message: Message, depth: int) -> bytes:
        draw = self._draw
        share = draw.choice((0.05, 0.2, 0.5))
        chosen = [field for field in message.fields if draw.random() < share][:_MOST_FIELDS]
        oneof = [field for field in chosen if field.label == "oneof"]
        parts = [self._field(field, depth) for field in chosen if field not in oneof[1:]]
        if self._has_unknown and (depth == 3 or draw.random() < 0.3):
            parts += [self._unknown_field(message) for _ in range(draw.randint(1, 3))]
        return b"".join(parts)

    def _field(self, field: Field, depth: int) -> bytes:
        if field.kind == "message" and depth == 0:
            return b""
        most = 2 if field.key == "bool" else 5
        count = self._draw.randint(1, most) if field.label in ("repeated", "packed", "map") else 1
        values = [self._value(field, depth) for _ in range(count)]
        if field.label == "packed":
            return wire.length_field(field.number, b"".join(values))
        if field.label == "map":
            value_tag = wire.tag(2, _wire_type(field.kind))
            entries = [self._key(field.key, index) + value_tag + value for index, value in enumerate(values)]
            return b"".join(wire.length_field(field.number, entry) for entry in entries)
        return b"".join(wire.tag(field.number, _wire_type(field.kind)) + value for value in values)

    def _key(self, kind: str, index: int) -> bytes:
        if kind == "string":
            return wire.length_field(1, f"key-{index}".encode())
        return wire.varint_field(1, index % 2 if kind == "bool" else index)

    def _value(self, field: Field, depth: int) -> bytes:
        if field.kind == "message":
            content = self._message(self._types[str(field.type)], depth - 1)
            return wire.varint(len(content)) + content
        if field.kind == "known":
            content = _WELL_KNOWN[str(field.type)](self._draw)
            return wire.varint(len(content)) + content
        if isinstance(field.type, Enum):
            return wire.varint(self._enumerator(field))
        return _scalar(field.kind, self._draw)

    def _enumerator(self, field: Field) -> int:
        assert isinstance(field.type, Enum)
        # Values of a map that are unknown take their entry with them.
        if self._has_unknown_value and field.label != "map":
            self._has_unknown_value = False
            return _beside(field.type)
        return self._draw.choice(field.type.values)

    def _unknown_field(self, message: Message) -> bytes:
        draw = self._draw
        number = draw.randrange(FIRST_UNKNOWN, FIRST_EXTENSION)
        if message.extends and draw.random() < 0.3:
            number += FIRST_EXTENSION - FIRST_UNKNOWN
        form = draw.choice(("varint", "text", "fixed", "group"))
        if form == "varint":
            return wire.varint_field(number, draw.getrandbits(draw.randint(1, 40)))
        if form == "text":
            return wire.length_field(number, _text(draw))
        if form == "fixed":
            return wire.double_field(number, draw.random())
        inner = wire.varint_field(1, draw.getrandbits(9)) + wire.length_field(2, _text(draw))
        return wire.tag(number, _START_GROUP) + inner + wire.tag(number, _END_GROUP)


_START_GROUP, _END_GROUP = 3, 4


def _beside(enum: Enum) -> int:
    """A value that the enum does not have."""
    most = max(enum.values)
    return most + 1 if most < 0x7FFFFFFF else next(n for n in range(most, 0, -1) if n not in enum.values)


def _wire_type(kind: str) -> int:
    fixed = {"double": wire.FIXED64, "fixed64": wire.FIXED64, "float": wire.FIXED32, "fixed32": wire.FIXED32}
    lengths = ("string", "bytes", "message", "known")
    return wire.LENGTH if kind in lengths else fixed.get(kind, wire.VARINT)


def _text(draw: random.Random) -> bytes:
    size = round(2 ** (8 * draw.random() ** 2))
    return bytes(draw.choices(b"abcdefghijklmnopqrstuvwxyz -_/.0123456789", k=size))


def _scalar(kind: str, draw: random.Random) -> bytes:
    if kind in ("string", "bytes"):
        text = _text(draw)
        return wire.varint(len(text)) + text
    if kind in ("double", "fixed64"):
        return struct.pack("<d", draw.random() * 1000)
    if kind in ("float", "fixed32"):
        return struct.pack("<f", draw.random() * 1000)
    if kind == "bool":
        return b"\x01"
    magnitude = draw.getrandbits(draw.choice((4, 7, 14, 31)))
    if kind in ("sint32", "sint64"):
        return wire.varint(wire.zigzag(-magnitude if draw.random() < 0.5 else magnitude))
    return wire.varint(-magnitude if kind in ("int32", "int64") and draw.random() < 0.05 else magnitude)


def _time(draw: random.Random) -> bytes:
    return wire.varint_field(1, 1_600_000_000 + draw.getrandbits(26)) + wire.varint_field(
        2, draw.getrandbits(29)
    )


def _any(draw: random.Random) -> bytes:
    return wire.length_field(1, b"type.googleapis.com/world.Thing") + wire.length_field(2, _text(draw))


def _struct(draw: random.Random) -> bytes:
    values = [wire.double_field(2, draw.random()), wire.length_field(3, _text(draw)), wire.varint_field(4, 1)]
    entries = [
        wire.length_field(1, f"name-{index}".encode()) + wire.length_field(2, value)
        for index, value in enumerate(values)
    ]
    return b"".join(wire.length_field(1, entry) for entry in entries)


_WELL_KNOWN: dict[str, Callable[[random.Random], bytes]] = {
    "google.protobuf.Timestamp": _time,
    "google.protobuf.Duration": _time,
    "google.protobuf.StringValue": lambda draw: wire.length_field(1, _text(draw)),
    "google.protobuf.Int64Value": lambda draw: wire.varint_field(1, draw.getrandbits(40)),
    "google.protobuf.Any": _any,
    "google.protobuf.Struct": _struct,
}
