"""The wire format, as far as Python needs it: writing generated messages, reading descriptors."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
_MASK64 = (1 << 64) - 1


def varint(value: int) -> bytes:
    """A number as a varint; a negative one as its 64-bit two's complement, in ten bytes."""
    value &= _MASK64
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def zigzag(value: int) -> int:
    """The number that `sint32` and `sint64` encode for a value."""
    return (value << 1 ^ value >> 63) & _MASK64


def tag(number: int, wire_type: int) -> bytes:
    """The bytes before a field's value."""
    return varint(number << 3 | wire_type)


def varint_field(number: int, value: int) -> bytes:
    """A field of a varint-like type."""
    return tag(number, VARINT) + varint(value)


def double_field(number: int, value: float) -> bytes:
    """A field of type double."""
    return tag(number, FIXED64) + struct.pack("<d", value)


def float_field(number: int, value: float) -> bytes:
    """A field of type float."""
    return tag(number, FIXED32) + struct.pack("<f", value)


def length_field(number: int, value: bytes) -> bytes:
    """A field of a string, of bytes, of a sub-message or of packed values."""
    return tag(number, LENGTH) + varint(len(value)) + value


def delimited(messages: Iterable[bytes]) -> bytes:
    """Messages one after the other, each after its length."""
    return b"".join(varint(len(message)) + message for message in messages)


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """The varint at offset `at`, and the offset after it. Raises `ValueError` if it is incomplete."""
    value = shift = 0
    for end in range(at, min(at + 10, len(data))):
        value |= (data[end] & 0x7F) << shift
        shift += 7
        if data[end] < 0x80:
            return value & _MASK64, end + 1
    raise ValueError(f"no varint at offset {at}")


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The numbers and values of a message's fields; fixed-width values are returned as bytes."""
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        number, wire_type = key >> 3, key & 7
        if wire_type == VARINT:
            value, at = read_varint(data, at)
            yield number, value
            continue
        if wire_type == LENGTH:
            size, at = read_varint(data, at)
        else:
            size = {FIXED64: 8, FIXED32: 4}[wire_type]
        yield number, data[at : at + size]
        at += size
