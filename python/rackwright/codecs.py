"""The compressed formats: which units each has, and what its official library makes of data.

A new format is an entry of `CODECS`: `accelerate`, `bench compression` and `explore` take it from there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from rackwright import libsnappy, libz, libzstd
from rackwright.codec import CodecUnit
from rackwright.deflate import DeflateUnit
from rackwright.errors import RackwrightError
from rackwright.snappy import SnappyUnit
from rackwright.unit_config import UnitConfig
from rackwright.zstd import ZstdUnit


@dataclass(frozen=True)
class Codec:
    """A format.

    Its units are `family`-compress and `family`-decompress; `unit` makes one, of an operation with the
    options of `CodecUnit`. `library` is the official one: `pack` is what it makes of plain bytes at one of
    `levels`, of which `usual_level` is its own choice (0 for a format without levels), `unpack` what it makes
    of packed bytes that stand for so many plain ones, or None when it refuses them.
    """

    name: str
    family: str
    library: str
    unit: Callable[..., CodecUnit]
    pack: Callable[[bytes, int], bytes]
    unpack: Callable[[bytes, int], bytes | None]
    levels: range = range(0)
    usual_level: int | None = None

    def level(self, asked: int | None) -> int | None:
        """The level of the library; raises `RackwrightError` for one that it does not have."""
        if asked is None:
            return self.usual_level
        if asked not in self.levels:
            said = f"has levels {self.levels[0]} to {self.levels[-1]}" if self.levels else "has no levels"
            raise RackwrightError(f"{self.name} {said}{f', not {asked}' if self.levels else ''}")
        return asked

    def compress(self, plain: bytes, level: int | None = None) -> bytes:
        """What the official library makes of `plain`."""
        return self.pack(plain, self.level(level) or 0)


def _snappy() -> Codec:
    return Codec(
        "snappy",
        "snappy",
        "libsnappy",
        SnappyUnit,
        pack=lambda plain, _: libsnappy.compress(plain),
        unpack=lambda packed, _: libsnappy.decompress(packed),
    )


def _zstd() -> Codec:
    def unpack(packed: bytes, size: int) -> bytes | None:
        found = libzstd.decompress(packed, size)
        return None if isinstance(found, str) else found

    return Codec(
        "zstd",
        "zstd",
        "libzstd",
        ZstdUnit,
        pack=libzstd.compress,
        unpack=unpack,
        levels=range(1, 23),
        usual_level=3,
    )


def _deflate(wrapper: libz.Format) -> Codec:
    def unpack(packed: bytes, _: int) -> bytes | None:
        content = libz.decompress(packed, wrapper)
        return None if isinstance(content, str) else content[0]

    return Codec(
        wrapper,
        "deflate",
        "zlib",
        partial(DeflateUnit, wrapper=wrapper),
        pack=partial(libz.compress, wrapper=wrapper),
        unpack=unpack,
        levels=range(1, 10),
        usual_level=6,
    )


def codec_unit(config: UnitConfig, format_name: str, *, memory: Mapping[str, int] | None = None) -> CodecUnit:
    """The unit of a format, `family`-compress or `family`-decompress, as `config` says, fresh from reset.

    Its settings are `history_kib` and `hash_entries`, as `CodecUnit` has them. Raises `RackwrightError` for
    another unit or setting.
    """
    codec = CODECS[format_name]
    family, _, operation = config.unit.rpartition("-")
    if family != codec.family:
        raise RackwrightError(f"{config.unit} is no unit of {format_name}")
    odd = sorted(set(config.settings) - set(SETTINGS))
    if odd:
        raise RackwrightError(f"{config.unit} has no setting {odd[0]}; there are {', '.join(SETTINGS)}")
    return codec.unit(
        operation,
        parameters=config.parameters,
        placement=config.placement,
        clock=config.clock,
        memory=memory,
        **config.settings,
    )


SETTINGS = ("history_kib", "hash_entries")
"""What can be set of units at run time."""

CODECS = {codec.name: codec for codec in (_snappy(), _zstd(), *map(_deflate, libz.FORMATS))}
"""By name."""
