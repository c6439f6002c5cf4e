"""Snappy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rackwright.formats.codec import Codec
from rackwright.formats.format import Format, hash_entries, history_kib

if TYPE_CHECKING:
    from rackwright.compression.codec import CodecUnit


def _unit(operation: str, **options: Any) -> CodecUnit:
    from rackwright.compression.snappy import SnappyUnit

    return SnappyUnit(operation, **options)


def _compress(plain: bytes, _level: int | None, _window_log2: int | None = None) -> bytes:
    from rackwright.compression import libsnappy

    return libsnappy.compress(plain)


def _decompress(packed: bytes, _size: int) -> bytes | None:
    from rackwright.compression import libsnappy

    return libsnappy.decompress(packed)


FORMAT = Format(
    "snappy",
    (Codec("snappy", "snappy", "libsnappy", _unit, _compress, _decompress),),
    levels=range(0),
    independent_bytes=1 << 16,
    compress=_compress,
    explored={"compress": {**hash_entries(14), **history_kib(64)}, "decompress": history_kib(64)},
)
