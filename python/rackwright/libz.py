"""The official zlib, against which every result is checked: the one that Python is linked to."""

from __future__ import annotations

import zlib
from typing import Literal, get_args

Format = Literal["deflate", "zlib", "gzip"]
"""What stands around DEFLATE data (RFC 1951): nothing, RFC 1950, or the members of RFC 1952."""

FORMATS: tuple[Format, ...] = get_args(Format)
_WINDOW_BITS = {"deflate": -15, "zlib": 15, "gzip": 31}


def compress(
    plain: bytes,
    level: int = 6,
    wrapper: Format = "zlib",
    *,
    window_log: int = 15,
    memory_level: int = 8,
    strategy: int = zlib.Z_DEFAULT_STRATEGY,
) -> bytes:
    """What the official library makes of `plain`."""
    window_bits = {"deflate": -window_log, "zlib": window_log, "gzip": 16 + window_log}[wrapper]
    compressor = zlib.compressobj(level, zlib.DEFLATED, window_bits, memory_level, strategy)
    return compressor.compress(plain) + compressor.flush()


def decompress(packed: bytes, wrapper: Format = "zlib") -> tuple[bytes, int] | str:
    """The content and where it ends, or the library's error in words.

    Of gzip all members are taken, as Python's `gzip` does: there may be zeros behind each, and nothing else.
    Behind the other formats anything may follow.
    """
    output, at = b"", 0
    while True:
        stream = zlib.decompressobj(_WINDOW_BITS[wrapper])
        try:
            output += stream.decompress(packed[at:])
        except zlib.error as error:
            return str(error)
        if not stream.eof:
            return "incomplete or truncated stream"
        at = len(packed) - len(stream.unused_data)
        if wrapper == "gzip":
            at = len(packed) - len(stream.unused_data.lstrip(b"\0"))
        if wrapper != "gzip" or at == len(packed):
            return output, at
