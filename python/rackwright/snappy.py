"""The Snappy units: their settings, and the check of their results."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rackwright import libsnappy
from rackwright.codec import CodecUnit
from rackwright.designs import ParameterValue
from rackwright.errors import RackwrightError

OPERATIONS = ("compress", "decompress")


def check_settings(operation: str, history_kib: int | None, hash_entries: int | None) -> None:
    """Raises `RackwrightError` for what cannot be told to a unit; what it cannot do, it says itself."""
    if hash_entries is not None and operation != "compress":
        raise RackwrightError("hash entries are a setting of compression")
    if history_kib is not None and not 0 <= history_kib < 1 << 32:
        raise RackwrightError(f"the history is a number of KiB, not {history_kib}")
    if hash_entries is not None and (hash_entries < 1 or hash_entries & (hash_entries - 1)):
        raise RackwrightError(f"the number of hash entries must be a power of two, not {hash_entries}")


class SnappyUnit(CodecUnit):
    """A Snappy unit that compresses or decompresses one buffer after the other."""

    def __init__(
        self,
        operation: str,
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
        """Builds the unit for `operation` ("compress" or "decompress").

        `parameters` are those of elaboration. `history_kib` (compress: how far back matches may be) and
        `hash_entries` (compress, a power of two) are set at run time, up to what was built. `clock` is
        hertz or "synthesised"; without it, `clock_of` says what it is. Raises `RackwrightError` for what does
        not exist or does not fit the operation.
        """
        if operation not in OPERATIONS:
            raise RackwrightError(f"no operation {operation}; there are {' and '.join(OPERATIONS)}")
        check_settings(operation, history_kib, hash_entries)
        super().__init__(
            "snappy",
            operation,
            parameters=parameters,
            placement=placement,
            skip_quiescent=skip_quiescent,
            check_idle=check_idle,
            assertions=assertions,
            waves=waves,
            clock=clock,
        )
        self.limit(history_kib, hash_entries)

    def room(self, data: bytes) -> int:
        """The most bytes that the operation can make of `data`."""
        if self.operation == "compress":
            return libsnappy.max_compressed_bytes(len(data))
        return libsnappy.declared_bytes(data) or 0

    def verifies(self, data: bytes, output: bytes, status: str) -> bool:
        """Whether the official library agrees with what came out."""
        return is_verified(self.operation, data, output, status)


def is_verified(operation: str, data: bytes, output: bytes, status: str) -> bool:
    """Whether the official library agrees with what came out.

    Only `ok` and, when decompressing, `malformed` are claims about the data that it can agree with.
    """
    if operation == "compress":
        return status == "ok" and libsnappy.decompress(output) == data
    if status == "malformed":
        return not libsnappy.is_valid(data)
    return status == "ok" and libsnappy.decompress(data) == output
