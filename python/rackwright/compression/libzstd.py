"""The official ZStd library, against which every result is checked.

It is the one that the package `zstandard` carries. Its decompression of a complete buffer, which accepts
several frames and skippable ones, is not offered by the package in Python; its shared object is called.
"""

from __future__ import annotations

import ctypes
import importlib.util
from functools import cache
from typing import Any

from rackwright.errors import MissingBuildError, RackwrightError

WRONG_DICTIONARY = "Dictionary mismatch"
"""The library's error for a frame that names another dictionary than the given one."""

_NOT_A_FRAME = (1 << 64) - 2  # ZSTD_CONTENTSIZE_ERROR; the number above it is "unknown"


@cache
def _library() -> ctypes.CDLL:
    found = importlib.util.find_spec("zstandard._cffi")
    if found is None or found.origin is None:
        raise MissingBuildError("the official ZStd library")
    library = ctypes.CDLL(found.origin)
    size, text = ctypes.c_size_t, ctypes.c_char_p
    context = ctypes.c_void_p
    library.ZSTD_createDCtx.restype = context
    library.ZSTD_decompress_usingDict.argtypes = [context, ctypes.c_void_p, size, text, size, text, size]
    library.ZSTD_decompress_usingDict.restype = size
    library.ZDICT_getDictHeaderSize.argtypes = [text, size]
    library.ZDICT_getDictHeaderSize.restype = size
    library.ZSTD_isError.argtypes = [size]
    library.ZSTD_getErrorName.argtypes = [size]
    library.ZSTD_getErrorName.restype = text
    library.ZSTD_decompressBound.argtypes = [text, size]
    library.ZSTD_decompressBound.restype = ctypes.c_ulonglong
    return library


@cache
def _context() -> ctypes.c_void_p:
    """One context for all calls: each call resets it."""
    return ctypes.c_void_p(_library().ZSTD_createDCtx())


def compress(plain: bytes, level: int = 3, *, dictionary: bytes = b"", **parameters: Any) -> bytes:
    """The official library's output for `plain`; `parameters` are those of `ZstdCompressionParameters`."""
    import zstandard

    chosen = zstandard.ZstdCompressionParameters.from_level(
        level, source_size=len(plain), **{"write_dict_id": 1, **parameters}
    )
    before = zstandard.ZstdCompressionDict(dictionary) if dictionary else None
    return zstandard.ZstdCompressor(compression_params=chosen, dict_data=before).compress(plain)


def decompress(packed: bytes, capacity: int, dictionary: bytes = b"") -> bytes | str:
    """The content of all frames, if it fits in `capacity` bytes, else the library's error in words."""
    library = _library()
    output = ctypes.create_string_buffer(max(capacity, 1))
    count = library.ZSTD_decompress_usingDict(
        _context(), output, capacity, packed, len(packed), dictionary, len(dictionary)
    )
    if library.ZSTD_isError(count):
        return str(library.ZSTD_getErrorName(count).decode())
    return output.raw[:count]


def dictionary_head(dictionary: bytes) -> int:
    """Bytes of a trained dictionary before its content: magic number, number, tables, three offsets.

    Raises `RackwrightError` for one that is damaged.
    """
    library = _library()
    count = int(library.ZDICT_getDictHeaderSize(dictionary, len(dictionary)))
    if library.ZSTD_isError(count):
        raise RackwrightError(f"the dictionary is none: {library.ZSTD_getErrorName(count).decode()}")
    return count


def bound(packed: bytes) -> int | None:
    """The maximum size of the frames' contents, from their headers; None if they are not frames."""
    most = int(_library().ZSTD_decompressBound(packed, len(packed)))
    return None if most >= _NOT_A_FRAME else most
