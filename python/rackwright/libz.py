"""The official zlib, against which every result is checked: the one that Python is linked to."""

from __future__ import annotations

import contextlib
import zlib
from typing import Literal, get_args

Format = Literal["deflate", "zlib", "gzip"]
"""What stands around DEFLATE data (RFC 1951): nothing, RFC 1950, or the members of RFC 1952."""

FORMATS: tuple[Format, ...] = get_args(Format)
NEEDS_DICTIONARY = "Error 2 while decompressing data"
"""The library's words for a stream that wants a dictionary first: `Z_NEED_DICT`."""

_PIECE = 1 << 18
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
    output = bytearray()
    try:
        end = _inflate(packed, wrapper, output)
    except zlib.error as error:
        return str(error)
    return "incomplete or truncated stream" if end is None else (bytes(output), end)


def most_before_error(packed: bytes, wrapper: Format = "zlib") -> int:
    """The most bytes that the library can have made of `packed` when it finds out what is wrong."""
    output = bytearray()
    with contextlib.suppress(zlib.error):
        _inflate(packed, wrapper, output)
    return len(output) + _PIECE


def _inflate(packed: bytes, wrapper: Format, output: bytearray) -> int | None:
    """Appends the content to `output`, piece by piece. Returns where it ends, or None if it is cut off."""
    at = 0
    while True:
        stream, rest = zlib.decompressobj(_WINDOW_BITS[wrapper]), packed[at:]
        while not stream.eof and (piece := stream.decompress(rest, _PIECE)):
            output += piece
            rest = stream.unconsumed_tail
        if not stream.eof:
            return None
        at = len(packed) - len(stream.unused_data)
        if wrapper == "gzip":
            at = len(packed) - len(stream.unused_data.lstrip(b"\0"))
        if wrapper != "gzip" or at == len(packed):
            return at
