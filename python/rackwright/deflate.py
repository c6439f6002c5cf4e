"""The DEFLATE units, with zlib's and gzip's wrappers: their settings, and the check of their results."""

from __future__ import annotations

from typing import Unpack

from rackwright import libz
from rackwright.codec import CodecOptions, CodecUnit
from rackwright.errors import RackwrightError

# What a unit may fill of an input that the library refuses.
_ROOM_OF_WRONG_INPUT = 1 << 20

FORMAT = "format"
"""The command that says what stands around the data."""


class DeflateUnit(CodecUnit):
    """A DEFLATE unit that compresses or decompresses one buffer after the other."""

    def __init__(
        self, operation: str, wrapper: libz.Format = "zlib", **options: Unpack[CodecOptions]
    ) -> None:
        """Builds the unit for `operation` ("compress" or "decompress") on data in `wrapper`.

        `CodecUnit` has the options.
        """
        if wrapper not in libz.FORMATS:
            raise RackwrightError(f"no format {wrapper}; there are {', '.join(libz.FORMATS)}")
        super().__init__("deflate", operation, **options)
        self.wrapper: libz.Format = wrapper
        self.choose(wrapper)

    def choose(self, wrapper: libz.Format) -> None:
        """From the next operation on, `wrapper` stands around the data."""
        self.wrapper = wrapper
        self.unit.command(FORMAT, libz.FORMATS.index(wrapper))
        self.settings["format"] = wrapper

    def room(self, data: bytes) -> int:
        """The bytes that `data` stands for, by the official library; or the most that can be made of it."""
        if self.operation == "compress":
            return most_compressed_bytes(len(data))
        return decompressed_bytes(data, self.wrapper)

    def verifies(self, data: bytes, output: bytes, status: str) -> bool:
        """Whether the official library agrees: with the bytes, or in refusing the input."""
        if self.operation == "compress":
            return status == "ok" and libz.decompress(output, self.wrapper) == (data, len(output))
        return decompressed_right(data, output, status, self.wrapper)


def decompressed_bytes(data: bytes, wrapper: libz.Format) -> int:
    """Room for what `data` stands for, by the official library."""
    expected = libz.decompress(data, wrapper)
    return _ROOM_OF_WRONG_INPUT if isinstance(expected, str) else len(expected[0])


def decompressed_right(data: bytes, output: bytes, status: str, wrapper: libz.Format) -> bool:
    """Whether the official library makes `output` of `data`, or calls it malformed as well."""
    expected = libz.decompress(data, wrapper)
    if isinstance(expected, str):
        return status == "malformed"
    return status == "ok" and output == expected[0]


def most_compressed_bytes(length: int) -> int:
    """Room that is always enough for `length` bytes: the contract page of the unit says why."""
    return length + length // 256 + 64
