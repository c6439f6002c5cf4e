"""The formats that suites can be made for, each with its official library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rackwright import libsnappy, libz

Compress = Callable[[bytes, int | None, int | None], bytes]
"""Plain bytes, level and window (its power of two) to compressed bytes; None is the library's choice."""

_ZSTD_DEFAULT_LEVEL = 3
_ZSTD_SMALLEST_WINDOW_LOG2 = 10
_DEFLATE_DEFAULT_LEVEL = 6
_DEFLATE_SMALLEST_WINDOW_LOG2, _DEFLATE_LARGEST_WINDOW_LOG2 = 9, 15


@dataclass(frozen=True)
class Format:
    """One format.

    `levels` are those of its library. `independent_bytes` is the length of its blocks when none of them
    depends on another; None when they do.
    """

    name: str
    levels: range
    independent_bytes: int | None
    compress: Compress


def _snappy(plain: bytes, _level: int | None, _window_log2: int | None) -> bytes:
    return libsnappy.compress(plain)


def _zstd(plain: bytes, level: int | None, window_log2: int | None) -> bytes:
    import zstandard

    window = {} if window_log2 is None else {"window_log": max(window_log2, _ZSTD_SMALLEST_WINDOW_LOG2)}
    parameters = zstandard.ZstdCompressionParameters.from_level(
        _ZSTD_DEFAULT_LEVEL if level is None else level, source_size=len(plain), **window
    )
    return zstandard.ZstdCompressor(compression_params=parameters).compress(plain)


def _deflate(plain: bytes, level: int | None, window_log2: int | None) -> bytes:
    largest = _DEFLATE_LARGEST_WINDOW_LOG2
    window = largest if window_log2 is None else min(window_log2, largest)
    return libz.compress(
        plain,
        _DEFLATE_DEFAULT_LEVEL if level is None else level,
        "deflate",
        window_log=max(window, _DEFLATE_SMALLEST_WINDOW_LOG2),
    )


FORMATS = {
    "snappy": Format("snappy", range(0), 1 << 16, _snappy),
    "zstd": Format("zstd", range(-7, 23), None, _zstd),
    "deflate": Format("deflate", range(10), None, _deflate),
}
"""By name."""
