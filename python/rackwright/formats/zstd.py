"""ZStd."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rackwright.formats.codec import Codec
from rackwright.formats.format import Format, hash_entries, history_kib

if TYPE_CHECKING:
    from rackwright.compression.codec import CodecUnit

_USUAL_LEVEL = 3
_SMALLEST_WINDOW_LOG2 = 10


def _unit(operation: str, **options: Any) -> CodecUnit:
    from rackwright.compression.zstd import ZstdUnit

    return ZstdUnit(operation, **options)


def _pack(plain: bytes, level: int) -> bytes:
    from rackwright.compression import libzstd

    return libzstd.compress(plain, level)


def _unpack(packed: bytes, size: int) -> bytes | None:
    from rackwright.compression import libzstd

    found = libzstd.decompress(packed, size)
    return None if isinstance(found, str) else found


def _compress(plain: bytes, level: int | None, window_log2: int | None) -> bytes:
    import zstandard

    window = {} if window_log2 is None else {"window_log": max(window_log2, _SMALLEST_WINDOW_LOG2)}
    parameters = zstandard.ZstdCompressionParameters.from_level(
        _USUAL_LEVEL if level is None else level, source_size=len(plain), **window
    )
    return zstandard.ZstdCompressor(compression_params=parameters).compress(plain)


FORMAT = Format(
    "zstd",
    (Codec("zstd", "zstd", "libzstd", _unit, _pack, _unpack, range(1, 23), _USUAL_LEVEL),),
    levels=range(-7, 23),
    independent_bytes=None,
    compress=_compress,
    explored={"compress": {**hash_entries(15), **history_kib(64)}, "decompress": history_kib(64)},
    presets={
        1: {"block-kib": 32, "hash-log2": 10, "hash-ways": 1, "hash-banks": 16, "history-kib": 8},
        3: {"block-kib": 64, "hash-ways": 4},
    },
)
