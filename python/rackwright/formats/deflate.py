"""DEFLATE (RFC 1951), bare, and in the streams of zlib (RFC 1950) and gzip (RFC 1952)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from rackwright.compression import libz
from rackwright.formats.codec import Codec
from rackwright.formats.format import Format, hash_entries, history_kib

if TYPE_CHECKING:
    from rackwright.compression.codec import CodecUnit

_USUAL_LEVEL = 6
_SMALLEST_WINDOW_LOG2, _LARGEST_WINDOW_LOG2 = 9, 15


def _unit(operation: str, *, wrapper: libz.Format, **options: Any) -> CodecUnit:
    from rackwright.compression.deflate import DeflateUnit

    return DeflateUnit(operation, wrapper=wrapper, **options)


def _unpack(packed: bytes, _size: int, *, wrapper: libz.Format) -> bytes | None:
    content = libz.decompress(packed, wrapper)
    return None if isinstance(content, str) else content[0]


def _codec(wrapper: libz.Format) -> Codec:
    return Codec(
        wrapper,
        "deflate",
        "zlib",
        partial(_unit, wrapper=wrapper),
        pack=partial(libz.compress, wrapper=wrapper),
        unpack=partial(_unpack, wrapper=wrapper),
        levels=range(1, 10),
        usual_level=_USUAL_LEVEL,
    )


def _compress(plain: bytes, level: int | None, window_log2: int | None) -> bytes:
    window = _LARGEST_WINDOW_LOG2 if window_log2 is None else min(window_log2, _LARGEST_WINDOW_LOG2)
    return libz.compress(
        plain,
        _USUAL_LEVEL if level is None else level,
        "deflate",
        window_log=max(window, _SMALLEST_WINDOW_LOG2),
    )


FORMAT = Format(
    "deflate",
    tuple(_codec(wrapper) for wrapper in libz.FORMATS),
    levels=range(10),
    independent_bytes=None,
    compress=_compress,
    explored={"compress": {**hash_entries(15), **history_kib(32)}, "decompress": history_kib(32)},
    presets={
        1: {"block-kib": 8, "hash-log2": 10, "hash-ways": 1, "hash-banks": 8, "history-kib": 8},
        3: {"hash-ways": 4},
    },
)
