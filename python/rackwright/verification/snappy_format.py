"""Builds Snappy data element by element, valid or not, as no compressor would.

The format is described in `format_description.txt` of the official library.
"""

from __future__ import annotations

from collections.abc import Iterable

LITERAL, COPY_1, COPY_2, COPY_4 = 0, 1, 2, 3
"""The kinds of element, in the low two bits of the tag byte."""


def header(length: int) -> bytes:
    """The uncompressed length as a little-endian base-128 number."""
    parts = bytearray()
    while length >= 0x80:
        parts.append(length & 0x7F | 0x80)
        length >>= 7
    parts.append(length)
    return bytes(parts)


def literal(data: bytes, length_bytes: int | None = None) -> bytes:
    """Bytes as they are.

    `length_bytes` (0 to 4) says how many bytes after the tag hold the length; by default as few as
    possible. 0 is possible up to 60 bytes.
    """
    count = len(data) - 1
    if length_bytes is None:
        length_bytes = 0 if count < 60 else (count.bit_length() + 7) // 8
    if length_bytes == 0:
        return bytes([count << 2 | LITERAL]) + data
    return bytes([(59 + length_bytes) << 2 | LITERAL]) + count.to_bytes(length_bytes, "little") + data


def copy_1(offset: int, length: int) -> bytes:
    """A copy with a 1-byte offset: 4 to 11 bytes from up to 2047 bytes back."""
    return bytes([offset >> 8 << 5 | (length - 4) << 2 | COPY_1, offset & 0xFF])


def copy_2(offset: int, length: int) -> bytes:
    """A copy with a 2-byte offset: 1 to 64 bytes from up to 65535 bytes back."""
    return bytes([(length - 1) << 2 | COPY_2]) + offset.to_bytes(2, "little")


def copy_4(offset: int, length: int) -> bytes:
    """A copy with a 4-byte offset: 1 to 64 bytes from anywhere back."""
    return bytes([(length - 1) << 2 | COPY_4]) + offset.to_bytes(4, "little")


def stream(length: int, elements: Iterable[bytes]) -> bytes:
    """A whole compressed buffer that declares `length` bytes."""
    return header(length) + b"".join(elements)
