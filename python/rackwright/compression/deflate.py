"""The DEFLATE units, with zlib's and gzip's wrappers: their settings, and the check of their results."""

from __future__ import annotations

from typing import Unpack

from rackwright.compression import libz
from rackwright.compression.codec import CodecOptions, CodecUnit
from rackwright.errors import RackwrightError

_ROOM_OF_WRONG_INPUT = 1 << 20
"""The minimum output buffer for an input that the library refuses."""
_MOST_ROOM = 1 << 30

_DICTIONARY_NUMBER = slice(2, 6)
"""The position of a zlib stream's dictionary identifier (RFC 1950, section 2.2)."""

FORMAT = "format"
"""The command that selects the wrapper of the data."""


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
        """From the next operation on, the data have the format `wrapper`."""
        self.wrapper = wrapper
        self.unit.command(FORMAT, libz.FORMATS.index(wrapper))
        self.settings["format"] = wrapper

    def room(self, data: bytes) -> int:
        """The decompressed size of `data`, by the official library; or the maximum size."""
        if self.operation == "compress":
            return most_compressed_bytes(len(data))
        return decompressed_bytes(data, self.wrapper)

    def note(self, data: bytes, status: str) -> str:
        """An explanation of this status for `data`."""
        return decompression_note(data, status, self.wrapper) if self.operation == "decompress" else ""

    def verifies(self, data: bytes, output: bytes, status: str) -> bool:
        """Whether the official library agrees: with the bytes, or in refusing the input or a dictionary."""
        if self.operation == "compress":
            return status == "ok" and libz.decompress(output, self.wrapper) == (data, len(output))
        return decompressed_right(data, output, status, self.wrapper)


def decompressed_bytes(data: bytes, wrapper: libz.Format) -> int:
    """The output size for `data`, by the official library; for wrong data, the size before the error."""
    expected = libz.decompress(data, wrapper)
    if not isinstance(expected, str):
        return len(expected[0])
    return min(_MOST_ROOM, max(_ROOM_OF_WRONG_INPUT, 2 * libz.most_before_error(data, wrapper)))


def decompressed_right(data: bytes, output: bytes, status: str, wrapper: libz.Format) -> bool:
    """Whether the official library makes `output` of `data`, or calls it malformed as well."""
    expected = libz.decompress(data, wrapper)
    if isinstance(expected, str):
        return status == ("unsupported" if expected == libz.NEEDS_DICTIONARY else "malformed")
    return status == "ok" and output == expected[0]


def decompression_note(data: bytes, status: str, wrapper: libz.Format) -> str:
    """The dictionary that a stream requires, since no unit of DEFLATE supports one; empty for none."""
    if status != "unsupported" or libz.decompress(data, wrapper) != libz.NEEDS_DICTIONARY:
        return ""
    number = int.from_bytes(data[_DICTIONARY_NUMBER], "big")
    return f"the stream wants a preset dictionary, of Adler-32 0x{number:08x}; the unit takes none"


def most_compressed_bytes(length: int) -> int:
    """A buffer size that always suffices for `length` bytes, as explained on the unit's contract page."""
    return length + length // 256 + 64
