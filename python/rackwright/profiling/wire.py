"""Messages of Protocol Buffers, as other tools' trace formats are: fields by number.

Encoding: https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

from collections.abc import Iterable


def varint(number: int) -> bytes:
    """A number that is not negative, seven bits a byte, lowest first."""
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def number(field: int, value: int) -> bytes:
    """A field with a number."""
    return varint(field << 3) + varint(value)


def message(field: int, content: bytes | str) -> bytes:
    """A field with a message, bytes or a text."""
    encoded = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(encoded)) + encoded


def packed(field: int, values: Iterable[int]) -> bytes:
    """A repeated field with numbers."""
    return message(field, b"".join(map(varint, values)))
