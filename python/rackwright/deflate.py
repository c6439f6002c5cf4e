"""The DEFLATE units, with zlib's and gzip's wrappers: their settings, and the check of their results."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rackwright import libz
from rackwright.codec import CodecUnit
from rackwright.designs import ParameterValue
from rackwright.errors import RackwrightError

OPERATIONS = ("decompress",)

# What a unit may fill of an input that the library refuses.
_ROOM_OF_WRONG_INPUT = 1 << 20

ON_CHIP_HISTORY, FORMAT = 4, 5
"""The commands that say how many bytes of the built history are used, and what stands around the data."""


class DeflateUnit(CodecUnit):
    """A DEFLATE unit that decompresses one buffer after the other."""

    def __init__(
        self,
        operation: str,
        wrapper: libz.Format = "zlib",
        *,
        parameters: Mapping[str, ParameterValue] | None = None,
        history_kib: int | None = None,
        placement: str = "near-core",
        skip_quiescent: bool = True,
        check_idle: bool = False,
        waves: Path | None = None,
        clock: str | None = None,
    ) -> None:
        """Builds the unit for `operation` ("decompress") on data in `wrapper`.

        `parameters` are those of elaboration; `history_kib` is set at run time, up to what was built. `clock`
        is hertz or "synthesised"; without it, `clock_of` says what it is. Raises `RackwrightError` for what
        does not exist.
        """
        if operation not in OPERATIONS:
            raise RackwrightError(f"no operation {operation}; there is {' and '.join(OPERATIONS)}")
        if wrapper not in libz.FORMATS:
            raise RackwrightError(f"no format {wrapper}; there are {', '.join(libz.FORMATS)}")
        if history_kib is not None and not 0 <= history_kib < 1 << 32:
            raise RackwrightError(f"the history is a number of KiB, not {history_kib}")
        super().__init__(
            "deflate",
            operation,
            parameters=parameters,
            placement=placement,
            skip_quiescent=skip_quiescent,
            check_idle=check_idle,
            waves=waves,
            clock=clock,
        )
        self.wrapper: libz.Format = wrapper
        self.choose(wrapper)
        if history_kib is not None:
            self.set("history-kib", history_kib, ON_CHIP_HISTORY, history_kib << 10)

    def choose(self, wrapper: libz.Format) -> None:
        """From the next operation on, `wrapper` stands around the data."""
        self.wrapper = wrapper
        self.unit.command(FORMAT, libz.FORMATS.index(wrapper))
        self.settings["format"] = wrapper

    def room(self, data: bytes) -> int:
        """The bytes that `data` stands for, by the official library."""
        expected = libz.decompress(data, self.wrapper)
        return _ROOM_OF_WRONG_INPUT if isinstance(expected, str) else len(expected[0])

    def verifies(self, data: bytes, output: bytes, status: str) -> bool:
        """Whether the official library agrees: with the bytes, or in refusing the input."""
        expected = libz.decompress(data, self.wrapper)
        if isinstance(expected, str):
            return status == "malformed"
        return status == "ok" and output == expected[0]
