"""The DEFLATE units, with zlib's and gzip's wrappers: their settings, and the check of their results."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rackwright import libz
from rackwright.codec import CodecUnit
from rackwright.designs import ParameterValue
from rackwright.errors import RackwrightError
from rackwright.snappy import check_settings

OPERATIONS = ("compress", "decompress")

# What a unit may fill of an input that the library refuses.
_ROOM_OF_WRONG_INPUT = 1 << 20

FORMAT = {"compress": 6, "decompress": 5}
"""The command of each unit that says what stands around the data."""


class DeflateUnit(CodecUnit):
    """A DEFLATE unit that compresses or decompresses one buffer after the other."""

    def __init__(
        self,
        operation: str,
        wrapper: libz.Format = "zlib",
        *,
        parameters: Mapping[str, ParameterValue] | None = None,
        history_kib: int | None = None,
        hash_entries: int | None = None,
        placement: str = "near-core",
        skip_quiescent: bool = True,
        check_idle: bool = False,
        assertions: bool = False,
        waves: Path | None = None,
        clock: str | None = None,
    ) -> None:
        """Builds the unit for `operation` ("compress" or "decompress") on data in `wrapper`.

        `parameters` are those of elaboration. `history_kib` (compress: how far back matches may be) and
        `hash_entries` (compress, a power of two) are set at run time, up to what was built. `clock` is
        hertz or "synthesised"; without it, `clock_of` says what it is. Raises `RackwrightError` for what
        does not exist or does not fit the operation.
        """
        if operation not in OPERATIONS:
            raise RackwrightError(f"no operation {operation}; there is {' and '.join(OPERATIONS)}")
        if wrapper not in libz.FORMATS:
            raise RackwrightError(f"no format {wrapper}; there are {', '.join(libz.FORMATS)}")
        check_settings(operation, history_kib, hash_entries)
        super().__init__(
            "deflate",
            operation,
            parameters=parameters,
            placement=placement,
            skip_quiescent=skip_quiescent,
            check_idle=check_idle,
            assertions=assertions,
            waves=waves,
            clock=clock,
        )
        self.wrapper: libz.Format = wrapper
        self.choose(wrapper)
        self.limit(history_kib, hash_entries)

    def choose(self, wrapper: libz.Format) -> None:
        """From the next operation on, `wrapper` stands around the data."""
        self.wrapper = wrapper
        self.unit.command(FORMAT[self.operation], libz.FORMATS.index(wrapper))
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
