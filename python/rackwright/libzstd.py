"""The official ZStd library, against which every result is checked.

It is the one that the package `zstandard` carries. Its decompression of a whole buffer, which takes several
frames and skippable ones, is not among what the package offers in Python; its shared object is called.
"""

from __future__ import annotations

import ctypes
import importlib.util
from functools import cache
from typing import Any

from rackwright.errors import MissingBuildError

_NOT_A_FRAME = (1 << 64) - 2  # ZSTD_CONTENTSIZE_ERROR; the number above it is "unknown"


@cache
def _library() -> ctypes.CDLL:
    found = importlib.util.find_spec("zstandard._cffi")
    if found is None or found.origin is None:
        raise MissingBuildError("the official ZStd library")
    library = ctypes.CDLL(found.origin)
    size, text = ctypes.c_size_t, ctypes.c_char_p
    library.ZSTD_decompress.argtypes = [ctypes.c_void_p, size, text, size]
    library.ZSTD_decompress.restype = size
    library.ZSTD_isError.argtypes = [size]
    library.ZSTD_getErrorName.argtypes = [size]
    library.ZSTD_getErrorName.restype = text
    library.ZSTD_decompressBound.argtypes = [text, size]
    library.ZSTD_decompressBound.restype = ctypes.c_ulonglong
    return library


def compress(plain: bytes, level: int = 3, **parameters: Any) -> bytes:
    """What the official library makes of `plain`; `parameters` are those of `ZstdCompressionParameters`."""
    import zstandard

    chosen = zstandard.ZstdCompressionParameters.from_level(level, source_size=len(plain), **parameters)
    return zstandard.ZstdCompressor(compression_params=chosen).compress(plain)


def decompress(packed: bytes, capacity: int) -> bytes | str:
    """The content of all frames, if it fits in `capacity` bytes, else the library's error in words."""
    library = _library()
    output = ctypes.create_string_buffer(max(capacity, 1))
    count = library.ZSTD_decompress(output, capacity, packed, len(packed))
    if library.ZSTD_isError(count):
        return str(library.ZSTD_getErrorName(count).decode())
    return output.raw[:count]


def bound(packed: bytes) -> int | None:
    """The most bytes that the frames can stand for, by their headers; None when they are not frames."""
    most = int(_library().ZSTD_decompressBound(packed, len(packed)))
    return None if most >= _NOT_A_FRAME else most
