"""The Snappy units, and the check of their results."""

from __future__ import annotations

from typing import Unpack

from rackwright.compression import libsnappy
from rackwright.compression.codec import CodecOptions, CodecUnit


class SnappyUnit(CodecUnit):
    """A Snappy unit that compresses or decompresses one buffer after the other."""

    def __init__(self, operation: str, **options: Unpack[CodecOptions]) -> None:
        """Builds the unit for `operation` ("compress" or "decompress"); `CodecUnit` has the options."""
        super().__init__("snappy", operation, **options)

    def room(self, data: bytes) -> int:
        """The most bytes that the operation can make of `data`."""
        if self.operation == "compress":
            return libsnappy.max_compressed_bytes(len(data))
        return libsnappy.declared_bytes(data) or 0

    def verifies(self, data: bytes, output: bytes, status: str) -> bool:
        """Whether the official library agrees with the output."""
        return is_verified(self.operation, data, output, status)


def is_verified(operation: str, data: bytes, output: bytes, status: str) -> bool:
    """Whether the official library agrees with the output.

    Only `ok` and, when decompressing, `malformed` are claims about the data that it can agree with.
    """
    if operation == "compress":
        return status == "ok" and libsnappy.decompress(output) == data
    if status == "malformed":
        return not libsnappy.is_valid(data)
    return status == "ok" and libsnappy.decompress(data) == output
