"""Writes ZStd frames piece by piece (RFC 8878, section 3.1), right ones and wrong ones."""

from __future__ import annotations

from collections.abc import Iterable

MAGIC = b"\x28\xb5\x2f\xfd"
RAW, REPEATED, COMPRESSED, RESERVED = range(4)


def block(kind: int, size: int, body: bytes, last: bool = True) -> bytes:
    """A block with any header; `size` is what the header says."""
    return (int(last) | kind << 1 | size << 3).to_bytes(3, "little") + body


def raw(data: bytes, last: bool = True) -> bytes:
    """A block of bytes as they are."""
    return block(RAW, len(data), data, last)


def repeated(byte: bytes, count: int, last: bool = True) -> bytes:
    """A block of one byte `count` times."""
    return block(REPEATED, count, byte, last)


def frame(blocks: Iterable[bytes], descriptor: int = 0, fields: bytes = b"\x50") -> bytes:
    """A frame; `fields` are the bytes of the header behind the descriptor, by default a window of 1 MiB."""
    return MAGIC + bytes([descriptor]) + fields + b"".join(blocks)


def skippable(data: bytes, variant: int = 0) -> bytes:
    """A frame of bytes that decoders pass over."""
    return (0x184D2A50 + variant).to_bytes(4, "little") + len(data).to_bytes(4, "little") + data
