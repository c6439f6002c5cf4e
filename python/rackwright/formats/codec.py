"""Compression to a kind of stream and decompression: the units of a format, and its official library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rackwright.errors import RackwrightError

if TYPE_CHECKING:
    from rackwright.compression.codec import CodecUnit


@dataclass(frozen=True)
class Codec:
    """A kind of stream.

    Its units are `family`-compress and `family`-decompress; `unit` makes one, of an operation with the
    options of `CodecUnit`. `library` is the official one: `pack` compresses bytes at one of `levels`, of
    which `usual_level` is its own default (0 for a format without levels); `unpack` decompresses bytes to the
    given number, or returns None if it refuses them.
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
        """The official library's compression of `plain`."""
        return self.pack(plain, self.level(level) or 0)
