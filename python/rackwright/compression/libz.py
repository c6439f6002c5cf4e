"""The official zlib, against which every result is checked: the one that Python is linked to."""

from __future__ import annotations

import contextlib
import zlib
from typing import Literal, get_args

Format = Literal["deflate", "zlib", "gzip"]
"""The wrapper of DEFLATE data (RFC 1951): none, RFC 1950, or the members of RFC 1952."""

FORMATS: tuple[Format, ...] = get_args(Format)
NEEDS_DICTIONARY = "Error 2 while decompressing data"
"""The library's error for a stream that needs a dictionary first: `Z_NEED_DICT`."""

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
    """The official library's compression of `plain`."""
    window_bits = {"deflate": -window_log, "zlib": window_log, "gzip": 16 + window_log}[wrapper]
    compressor = zlib.compressobj(level, zlib.DEFLATED, window_bits, memory_level, strategy)
    return compressor.compress(plain) + compressor.flush()


def decompress(packed: bytes, wrapper: Format = "zlib") -> tuple[bytes, int] | str:
    """The content and its end, or the library's error as text.

    For gzip, all members are read, as in Python's `gzip`: each may be followed by zeros, and by nothing else.
    Any bytes may follow the other formats.
    """
    output = bytearray()
    try:
        end = _inflate(packed, wrapper, output)
    except zlib.error as error:
        return str(error)
    return "incomplete or truncated stream" if end is None else (bytes(output), end)


def most_before_error(packed: bytes, wrapper: Format = "zlib") -> int:
    """The maximum number of bytes that the library has output for `packed` when it detects an error."""
    output = bytearray()
    with contextlib.suppress(zlib.error):
        _inflate(packed, wrapper, output)
    return len(output) + _PIECE


def _inflate(packed: bytes, wrapper: Format, output: bytearray) -> int | None:
    """Appends the content to `output`, piece by piece. Returns its end, or None if it is truncated."""
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
