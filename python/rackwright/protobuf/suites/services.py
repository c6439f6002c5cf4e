"""Suites that are representative of services: schemas and messages drawn from distributions.

Each service has a schema of its own: a top-level type, and types below it to the depth that its messages
need. A message gets a size first; then fields are filled in until it has that size. The same file gives
the same suite on every machine.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass

from bootstrap.paths import BUILD
from rackwright.protobuf import wire
from rackwright.protobuf.suite import Benchmark, Suite
from rackwright.protobuf.suites.distributions import (
    Distributions,
    draw_name,
    draw_share,
    draw_size,
)

_PACKAGE = "rackwright.services"
_KINDS = 16
"""Values of the enum."""

_MESSAGE_OVERHEAD = 12
"""Bytes for which it is not worth opening a sub-message."""

_LEVELS = 4
"""Types of a service, one a level; the lowest holds itself, for messages that are deeper."""


@dataclass(frozen=True)
class _Field:
    """A field; `kind` is a type of `distributions.TYPES`, or "message" for the type one level below."""

    number: int
    kind: str
    repeated: bool = False
    packed: bool = False


@dataclass(frozen=True)
class _Type:
    """A message type: the fields of one level of a service's schema."""

    name: str
    fields: tuple[_Field, ...]


def services_suite(shapes: Distributions, name: str) -> Suite:
    """The suite that these distributions describe; its .proto file is kept in .build."""
    services = []
    benchmarks = []
    for index in range(shapes.services):
        draw = random.Random(f"{shapes.seed}/{index}")
        service = f"Service{chr(ord('A') + index % 26)}{index // 26 or ''}"
        types = _schema(service, shapes, draw)
        messages = [_top_message(types, shapes, draw) for _ in range(shapes.messages)]
        services.append(types)
        benchmarks.append(Benchmark(f"service-{index}", f"{_PACKAGE}.{service}", messages, "services"))
    text = _proto(services)
    folder = BUILD / "protobuf" / f"suite-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    folder.mkdir(parents=True, exist_ok=True)
    proto = folder / "services.proto"
    proto.write_text(text, encoding="utf-8")
    return Suite(name, proto, benchmarks)


# --- schemas ---


def _schema(service: str, shapes: Distributions, draw: random.Random) -> list[_Type]:
    """The types of a service, the top-level one first."""
    names = [service, *(f"{service}Level{level}" for level in range(1, _LEVELS))]
    return [_Type(name, _fields(shapes, draw)) for name in names]


def _fields(shapes: Distributions, draw: random.Random) -> tuple[_Field, ...]:
    """The fields of a type; beside those drawn, one of bytes and one of messages, both repeated."""
    count = draw_size(shapes.defined_fields, draw)
    density = max(draw_share(shapes.density, draw), 1 / 64)
    numbers = draw.sample(range(1, int(count / density) + 3), count + 2)
    fields = [_field(numbers.pop(), shapes, draw) for _ in range(count)]
    fields.append(_Field(numbers.pop(), "bytes", repeated=True))
    fields.append(_Field(numbers.pop(), "message", repeated=True))
    return tuple(sorted(fields, key=lambda field: field.number))


def _field(number: int, shapes: Distributions, draw: random.Random) -> _Field:
    kind = draw_name(shapes.field_types, draw)
    repeated = draw.random() < shapes.repeated
    packed = repeated and kind not in ("string", "bytes") and draw.random() < shapes.packed
    return _Field(number, kind, repeated, packed)


def _proto(services: Sequence[Sequence[_Type]]) -> str:
    values = "".join(f"  KIND_{value} = {value};\n" for value in range(_KINDS))
    parts = [
        "// Generated from distributions of the shapes of messages.\n"
        f'syntax = "proto2";\n\npackage {_PACKAGE};\n\nenum Kind {{\n{values}}}\n'
    ]
    for types in services:
        for level, each in enumerate(types):
            below = types[min(level + 1, len(types) - 1)].name
            parts.append(f"\nmessage {each.name} {{\n")
            parts += [f"  {_declaration(field, below)};\n" for field in each.fields]
            parts.append("}\n")
    return "".join(parts)


def _declaration(field: _Field, below: str) -> str:
    kind = {"message": below, "enum": "Kind"}.get(field.kind, field.kind)
    label = "repeated" if field.repeated else "optional"
    return f"{label} {kind} field_{field.number} = {field.number}" + (
        " [packed = true]" if field.packed else ""
    )


# --- messages ---


def _top_message(types: Sequence[_Type], shapes: Distributions, draw: random.Random) -> bytes:
    """A message about as large as was drawn for it."""
    depth = draw_size(shapes.depth, draw)
    levels = [types[min(level, len(types) - 1)] for level in range(depth)]
    return _message(levels, draw_size(shapes.message_bytes, draw), shapes, draw)


def _message(levels: Sequence[_Type], size: int, shapes: Distributions, draw: random.Random) -> bytes:
    """A message of the first type of about `size` bytes.

    First come the fields that are present; then repeated ones grow until the message has its size.
    """
    fields = levels[0].fields
    most = max(1, round(draw_share(shapes.presence, draw) * len(fields)))
    filled: dict[int, bytes] = {}
    left = size
    for field in draw.sample(fields, len(fields)):
        value = _value(field, levels, left, shapes, draw) if len(filled) < most else b""
        if value and len(value) <= left:
            filled[field.number] = value
            left -= len(value)
    growing = [field for field in fields if field.repeated and field.kind in ("bytes", "message")]
    while left > _MESSAGE_OVERHEAD or not filled:
        field = draw.choice(growing)
        value = _value(field, levels, left, shapes, draw)
        if not value:
            continue
        filled[field.number] = filled.get(field.number, b"") + value
        left -= len(value)
    return b"".join(filled[number] for number in sorted(filled))


def _value(
    field: _Field, levels: Sequence[_Type], left: int, shapes: Distributions, draw: random.Random
) -> bytes:
    """A field with its value, or with its values; nothing when it cannot be."""
    if field.kind == "message":
        if len(levels) < 2 or left < _MESSAGE_OVERHEAD:
            return b""
        inner = _message(levels[1:], min(draw_size(shapes.message_bytes, draw), left - 4), shapes, draw)
        return wire.length_field(field.number, inner)
    count = draw.randint(1, 6) if field.repeated else 1
    if field.kind in ("string", "bytes"):
        sizes = [min(draw_size(shapes.bytes_sizes, draw), max(left // count - 3, 1)) for _ in range(count)]
        return b"".join(wire.length_field(field.number, _text(field.kind, size, draw)) for size in sizes)
    values = [_number(field.kind, shapes, draw) for _ in range(count)]
    if field.packed:
        return wire.length_field(field.number, b"".join(values))
    key = wire.tag(field.number, _wire_type(field.kind))
    return b"".join(key + value for value in values)


def _wire_type(kind: str) -> int:
    return {"double": wire.FIXED64, "fixed64": wire.FIXED64, "float": wire.FIXED32}.get(kind, wire.VARINT)


def _number(kind: str, shapes: Distributions, draw: random.Random) -> bytes:
    """A value as it is encoded, without its tag."""
    if _wire_type(kind) == wire.FIXED64:
        return draw.randbytes(6) + b"\x24\x40"
    if _wire_type(kind) == wire.FIXED32:
        return draw.randbytes(2) + b"\x24\x41"
    if kind == "bool":
        return wire.varint(draw.randint(0, 1))
    if kind == "enum":
        return wire.varint(draw.randrange(_KINDS))
    size = draw_size(shapes.varint_sizes, draw)
    if kind == "int32" and size > 5:
        return wire.varint(-draw.randint(1, 1 << 31))
    most = (1 << 31) - 1 if kind == "int32" else (1 << 64) - 1
    return wire.varint(draw.randint(1 << 7 * (size - 1) if size > 1 else 0, min((1 << 7 * size) - 1, most)))


def _text(kind: str, size: int, draw: random.Random) -> bytes:
    if kind == "bytes":
        return draw.randbytes(size)
    return bytes(draw.choices(b"abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ/-_.0123456789", k=size))
