"""The official Snappy library, against which every result is checked."""

from __future__ import annotations

import ctypes
from functools import cache

from bootstrap.paths import SOFTWARE_HOST
from rackwright.errors import MissingBuildError

_OK = 0
_SIZE_POINTER = ctypes.POINTER(ctypes.c_size_t)


@cache
def _library() -> ctypes.CDLL:
    path = SOFTWARE_HOST / "libsnappy.so"
    if not path.exists():
        raise MissingBuildError("the official libsnappy")
    library = ctypes.CDLL(str(path))
    size = ctypes.c_size_t
    for name in ("snappy_compress", "snappy_uncompress"):
        getattr(library, name).argtypes = [ctypes.c_char_p, size, ctypes.c_char_p, _SIZE_POINTER]
    library.snappy_uncompressed_length.argtypes = [ctypes.c_char_p, size, _SIZE_POINTER]
    library.snappy_validate_compressed_buffer.argtypes = [ctypes.c_char_p, size]
    library.snappy_max_compressed_length.argtypes = [size]
    library.snappy_max_compressed_length.restype = size
    return library


def max_compressed_bytes(plain_bytes: int) -> int:
    """The most bytes that `plain_bytes` bytes can compress to."""
    return int(_library().snappy_max_compressed_length(plain_bytes))


def compress(plain: bytes) -> bytes:
    """The official library's compression of `plain`, the same on every machine."""
    capacity = max_compressed_bytes(len(plain))
    output = ctypes.create_string_buffer(max(capacity, 1))
    length = ctypes.c_size_t(capacity)
    status = _library().snappy_compress(plain, len(plain), output, ctypes.byref(length))
    if status != _OK:
        raise AssertionError("the library failed to compress into a buffer of the size it asked for")
    return ctypes.string_at(output, length.value)


def declared_bytes(compressed: bytes) -> int | None:
    """The length that the header declares; None when there is no valid header."""
    length = ctypes.c_size_t()
    status = _library().snappy_uncompressed_length(compressed, len(compressed), ctypes.byref(length))
    return length.value if status == _OK else None


def is_valid(compressed: bytes) -> bool:
    """The library's verdict; needs no memory for the result."""
    return bool(_library().snappy_validate_compressed_buffer(compressed, len(compressed)) == _OK)


def decompress(compressed: bytes) -> bytes | None:
    """The plain bytes, or None when the library calls the input malformed."""
    if not is_valid(compressed):
        return None
    capacity = declared_bytes(compressed) or 0
    output = ctypes.create_string_buffer(max(capacity, 1))
    length = ctypes.c_size_t(capacity)
    status = _library().snappy_uncompress(compressed, len(compressed), output, ctypes.byref(length))
    return ctypes.string_at(output, length.value) if status == _OK else None
