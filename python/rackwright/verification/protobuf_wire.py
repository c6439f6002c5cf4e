"""The wire format of protobuf: an encoder for anything, and a decoder that agrees with the official library.

Sources: the encoding page of protobuf.dev, and `parse_context.h` of the library (3.21) for the limits of
tags, lengths and varints.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

from rackwright.verification.protobuf_schema import Field, Kind, Message

VARINT, FIXED64, DELIMITED, START_GROUP, END_GROUP, FIXED32 = 0, 1, 2, 3, 4, 5

_MOST_LENGTH = (1 << 31) - 1 - 16
"""The largest length that the library accepts (`ReadSizeFallback`)."""

Value = dict[int, Any]
"""A message: field number to value. Repeated fields are lists, messages are dictionaries.

Absent fields are missing. A map is the list of its entries as they were read, each a message."""


class MalformedError(Exception):
    """The library refuses the input."""


class UnsupportedError(Exception):
    """The library takes the input, the unit does not."""


def varint(value: int, least_bytes: int = 1) -> bytes:
    """A number below 2^64, in `least_bytes` bytes or as many more as it needs."""
    parts = bytearray()
    while value >= 0x80 or len(parts) + 1 < least_bytes:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def tag(number: int, wire: int) -> bytes:
    """The tag of a field."""
    return varint(number << 3 | wire)


def delimited(number: int, content: bytes) -> bytes:
    """A length-delimited field."""
    return tag(number, DELIMITED) + varint(len(content)) + content


def scalar(kind: Kind, value: Any) -> bytes:
    """A scalar without its tag."""
    if kind in _FIXED:
        return struct.pack(_FIXED[kind], value)
    if kind in (Kind.SINT32, Kind.SINT64):
        return varint((value << 1 ^ value >> 63) & (1 << 64) - 1)
    return varint(int(value) & (1 << 64) - 1)


_FIXED = {
    Kind.DOUBLE: "<d",
    Kind.FLOAT: "<f",
    Kind.FIXED64: "<Q",
    Kind.FIXED32: "<I",
    Kind.SFIXED64: "<q",
    Kind.SFIXED32: "<i",
}


def wire_type(kind: Kind) -> int:
    """How a single value of the type is written."""
    if kind in _FIXED:
        return FIXED64 if struct.calcsize(_FIXED[kind]) == 8 else FIXED32
    return DELIMITED if kind in (Kind.STRING, Kind.BYTES, Kind.MESSAGE) else VARINT


def encode_field(field: Field, value: Any) -> bytes:
    """A field with everything in it; repeated ones packed if the field says so."""
    values = value if field.repeated else [value]
    if field.map:
        return _encode_map(field, values)
    if field.kind is Kind.MESSAGE:
        return b"".join(delimited(field.number, encode(field.message(), item)) for item in values)
    if field.kind in (Kind.STRING, Kind.BYTES):
        return b"".join(delimited(field.number, item) for item in values)
    if field.repeated and field.packed:
        return (
            delimited(field.number, b"".join(scalar(field.kind, item) for item in values)) if values else b""
        )
    return b"".join(tag(field.number, wire_type(field.kind)) + scalar(field.kind, item) for item in values)


def map_items(field: Field, entries: list[Value]) -> list[tuple[Any, Any]]:
    """What a map with these entries holds, by ascending key: the last one of a key counts."""
    key, value = (field.message().by_number[number] for number in (1, 2))
    content = {entry.get(1, default(key)): entry.get(2, default(value)) for entry in entries}
    return sorted(content.items())


def default(field: Field) -> Any:
    """What a field that is absent is taken for."""
    if field.kind is Kind.MESSAGE:
        return {}
    if field.kind in (Kind.STRING, Kind.BYTES):
        return b""
    return False if field.kind is Kind.BOOL else 0


def _encode_map(field: Field, entries: list[Value]) -> bytes:
    """The deterministic form: keys ascend, and every entry has its key and its value."""
    entry = field.message()
    items = map_items(field, entries)
    return b"".join(delimited(field.number, encode(entry, {1: key, 2: value})) for key, value in items)


def encode(message: Message, value: Value) -> bytes:
    """A message, its fields in ascending order."""
    return b"".join(encode_field(message.by_number[number], value[number]) for number in sorted(value))


@dataclass
class _Reader:
    data: bytes
    at: int
    end: int

    def varint(self, most: int, least_past: int = 0) -> int:
        result = 0
        for index in range(most):
            if self.at + index >= self.end:
                raise MalformedError
            byte = self.data[self.at + index]
            result |= (byte & 0x7F) << 7 * index
            if byte < 0x80:
                if least_past and index == most - 1 and byte >= least_past:
                    raise MalformedError
                self.at += index + 1
                return result
        raise MalformedError

    def take(self, count: int) -> bytes:
        if count > self.end - self.at:
            raise MalformedError
        self.at += count
        return self.data[self.at - count : self.at]

    def length(self) -> int:
        length = self.varint(5, 8)
        if length > _MOST_LENGTH or length > self.end - self.at:
            raise MalformedError
        return length


def _read_scalar(field: Field, reader: _Reader) -> Any:
    kind = field.kind
    if kind in _FIXED:
        return struct.unpack(_FIXED[kind], reader.take(struct.calcsize(_FIXED[kind])))[0]
    value = reader.varint(10) & (1 << 64) - 1
    if kind is Kind.BOOL:
        return value != 0
    bits = 64 if kind in (Kind.INT64, Kind.UINT64, Kind.SINT64) else 32
    value &= (1 << bits) - 1
    if kind in (Kind.SINT32, Kind.SINT64):
        return value >> 1 ^ -(value & 1)
    if kind in (Kind.UINT32, Kind.UINT64):
        return value
    number = value - (1 << bits) if value >> (bits - 1) else value
    if field.enum_values is not None and number not in field.enum_values:
        raise UnsupportedError
    return number


def decode(message: Message, data: bytes, depth: int = 25) -> Value:
    """What the library makes of `data`; raises `MalformedError` or `UnsupportedError`.

    `depth` is the number of messages within each other that the unit keeps.
    """
    value: Value = {}
    _decode_into(message, value, _Reader(data, 0, len(data)), depth)
    return value


def _decode_into(message: Message, value: Value, reader: _Reader, depth: int) -> None:
    if depth == 0:
        raise UnsupportedError
    while reader.at < reader.end:
        key = reader.varint(5) & 0xFFFFFFFF
        number, wire = key >> 3, key & 7
        if number == 0 or wire == END_GROUP or wire > FIXED32:
            raise MalformedError
        field = message.by_number.get(number)
        if field is None or wire == START_GROUP:
            raise UnsupportedError
        packed = field.repeated and wire == DELIMITED and wire_type(field.kind) != DELIMITED
        if wire != wire_type(field.kind) and not packed:
            raise UnsupportedError
        if packed:
            end = reader.length() + reader.at
            inner = _Reader(reader.data, reader.at, end)
            items = value.setdefault(number, [])
            while inner.at < end:
                items.append(_read_scalar(field, inner))
            reader.at = end
        else:
            _put(message, field, value, _read_value(field, value, reader, depth))


def _read_value(field: Field, value: Value, reader: _Reader, depth: int) -> Any:
    if field.kind is Kind.MESSAGE:
        end = reader.length() + reader.at
        inner: Value = {} if field.repeated else value.get(field.number, {})
        _decode_into(field.message(), inner, _Reader(reader.data, reader.at, end), depth - 1)
        reader.at = end
        return inner
    if field.kind in (Kind.STRING, Kind.BYTES):
        content = reader.take(reader.length())
        if field.utf8:
            try:
                content.decode()
            except UnicodeDecodeError as error:
                raise MalformedError from error
        return content
    return _read_scalar(field, reader)


def _put(message: Message, field: Field, value: Value, item: Any) -> None:
    if field.repeated:
        value.setdefault(field.number, []).append(item)
        return
    if field.oneof is not None:
        for other in message.fields:
            if other.oneof == field.oneof and other is not field:
                value.pop(other.number, None)
    value[field.number] = item
