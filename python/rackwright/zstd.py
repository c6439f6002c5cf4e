"""The ZStd unit: its settings, and the check of its results."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rackwright import libzstd
from rackwright.codec import CodecUnit
from rackwright.designs import ParameterValue
from rackwright.errors import RackwrightError

OPERATIONS = ("decompress",)

# What a unit may fill when the headers of the frames don't tell how much it is.
_MOST_ROOM = 1 << 30
_LEAST_ROOM = 1 << 16

ON_CHIP_HISTORY = 4
"""The command that says how many bytes of the built history are used."""


class ZstdUnit(CodecUnit):
    """A ZStd unit that decompresses one buffer after the other."""

    def __init__(
        self,
        operation: str,
        *,
        parameters: Mapping[str, ParameterValue] | None = None,
        history_kib: int | None = None,
        placement: str = "near-core",
        skip_quiescent: bool = True,
        check_idle: bool = False,
        waves: Path | None = None,
        clock: str | None = None,
    ) -> None:
        """Builds the unit for `operation` ("decompress").

        `parameters` are those of elaboration; `history_kib` is set at run time, up to what was built. `clock`
        is hertz or "synthesised"; without it, `clock_of` says what it is. Raises `RackwrightError` for what
        does not exist.
        """
        if operation not in OPERATIONS:
            raise RackwrightError(f"no operation {operation}; there is {' and '.join(OPERATIONS)}")
        if history_kib is not None and not 0 <= history_kib < 1 << 32:
            raise RackwrightError(f"the history is a number of KiB, not {history_kib}")
        super().__init__(
            "zstd",
            operation,
            parameters=parameters,
            placement=placement,
            skip_quiescent=skip_quiescent,
            check_idle=check_idle,
            waves=waves,
            clock=clock,
        )
        if history_kib is not None:
            self.set("history-kib", history_kib, ON_CHIP_HISTORY, history_kib << 10)

    def room(self, data: bytes) -> int:
        """The most bytes that the frames of `data` can stand for."""
        return min(libzstd.bound(data) or _LEAST_ROOM, _MOST_ROOM)

    def verifies(self, data: bytes, output: bytes, status: str) -> bool:
        """Whether the official library agrees: with the bytes, or in refusing the input."""
        if status not in ("ok", "malformed"):
            return False
        expected = libzstd.decompress(data, max(self.room(data), len(output)))
        return isinstance(expected, str) if status == "malformed" else expected == output
