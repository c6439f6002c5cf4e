"""The units of several formats: which one an operation writes or reads, and the check of its results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Unpack

from rackwright.compression import deflate, libsnappy, libz, libzstd, snappy, zstd
from rackwright.compression.codec import CodecOptions, CodecUnit
from rackwright.errors import RackwrightError

ALGORITHM = "algorithm"
"""The command that selects the format of an operation."""


@dataclass(frozen=True)
class _Format:
    """A format: its code, the room that is always enough, and whether the library reads back the input."""

    code: int
    room: Callable[[int], int]
    restores: Callable[[bytes, bytes], bool]


def _zstd(code: int) -> _Format:
    def restores(plain: bytes, packed: bytes) -> bool:
        return libzstd.decompress(packed, len(plain)) == plain

    return _Format(code, zstd.most_compressed_bytes, restores)


def _deflate(code: int, wrapper: libz.Format) -> _Format:
    def restores(plain: bytes, packed: bytes) -> bool:
        return libz.decompress(packed, wrapper) == (plain, len(packed))

    return _Format(code, deflate.most_compressed_bytes, restores)


def _snappy(code: int) -> _Format:
    def restores(plain: bytes, packed: bytes) -> bool:
        return snappy.is_verified("compress", plain, packed, "ok")

    return _Format(code, libsnappy.max_compressed_bytes, restores)


_FORMATS = {
    "snappy": _snappy(0),
    "zstd": _zstd(1),
    "zstd-checksum": _zstd(2),
    "deflate": _deflate(4, "deflate"),
    "zlib": _deflate(5, "zlib"),
    "gzip": _deflate(6, "gzip"),
}

ALGORITHMS = tuple(_FORMATS)
"""The output formats of an operation."""


class CombinedCompressor(CodecUnit):
    """The unit `combined-compress`: one buffer after the other, each in the format chosen last."""

    def __init__(self, algorithm: str = "snappy", **options: Unpack[CodecOptions]) -> None:
        """Builds the unit; its first operation writes `algorithm`, one of `ALGORITHMS`.

        `CodecUnit` has the other options. Raises `RackwrightError` for what does not exist.
        """
        super().__init__("combined", "compress", **options)
        self.choose(algorithm)

    def choose(self, algorithm: str) -> None:
        """From the next operation on, `algorithm` is written, if the unit was built with it."""
        if algorithm not in _FORMATS:
            raise RackwrightError(f"no format {algorithm}; there are {', '.join(ALGORITHMS)}")
        self._format = _FORMATS[algorithm]
        self.unit.command(ALGORITHM, self._format.code)
        self.settings["algorithm"] = algorithm

    def room(self, data: bytes) -> int:
        """The maximum size of the output for `data`."""
        return self._format.room(len(data))

    def verifies(self, data: bytes, output: bytes, status: str) -> bool:
        """Whether the official library restores the input."""
        return status == "ok" and self._format.restores(data, output)


@dataclass(frozen=True)
class _Packed:
    """A format to read: its code, the output size for its bytes, and the library's verdict.

    `room` takes the input and the dictionary of the unit; `right` the input, the output, the status and the
    dictionary; `note` the input, the status and the dictionary.
    """

    code: int
    room: Callable[[bytes, bytes], int]
    right: Callable[[bytes, bytes, str, bytes], bool]
    note: Callable[[bytes, str, bytes], str] = lambda *_: ""


def _packed_deflate(code: int, wrapper: libz.Format) -> _Packed:
    def right(data: bytes, output: bytes, status: str, _: bytes) -> bool:
        return deflate.decompressed_right(data, output, status, wrapper)

    def note(data: bytes, status: str, _: bytes) -> str:
        return deflate.decompression_note(data, status, wrapper)

    return _Packed(code, lambda data, _: deflate.decompressed_bytes(data, wrapper), right, note)


def _packed_snappy(code: int) -> _Packed:
    def right(data: bytes, output: bytes, status: str, _: bytes) -> bool:
        return snappy.is_verified("decompress", data, output, status)

    return _Packed(code, lambda data, _: libsnappy.declared_bytes(data) or 0, right)


_PACKED = {
    "snappy": _packed_snappy(0),
    "zstd": _Packed(1, zstd.most_decompressed_bytes, zstd.decompressed_right, zstd.decompression_note),
    "deflate": _packed_deflate(4, "deflate"),
    "zlib": _packed_deflate(5, "zlib"),
    "gzip": _packed_deflate(6, "gzip"),
}

DECOMPRESSED_ALGORITHMS = tuple(_PACKED)
"""The input formats of an operation."""


class CombinedDecompressor(CodecUnit):
    """The unit `combined-decompress`: one buffer after the other, each of the format chosen last."""

    def __init__(
        self, algorithm: str = "snappy", *, dictionary: bytes = b"", **options: Unpack[CodecOptions]
    ) -> None:
        """Builds the unit; its first operation reads `algorithm`, one of `DECOMPRESSED_ALGORITHMS`.

        `dictionary` is that of ZStd's frames, trained or only content. `CodecUnit` has the other options.
        Raises `RackwrightError` for what does not exist.
        """
        self.dictionary = dictionary
        self._placed = b""
        super().__init__("combined", "decompress", **options)
        self.choose(algorithm)

    def choose(self, algorithm: str) -> None:
        """From the next operation on, `algorithm` is read, if the unit was built with it."""
        if algorithm not in _PACKED:
            raise RackwrightError(f"no format {algorithm}; there are {', '.join(DECOMPRESSED_ALGORITHMS)}")
        self._format = _PACKED[algorithm]
        self.unit.command(ALGORITHM, self._format.code)
        self.settings["algorithm"] = algorithm

    def equip(self, warm: str | None) -> None:
        """Loads the dictionary into memory, and makes the unit read it again."""
        zstd.place_dictionary(self.unit, self.dictionary, warm, same=self.dictionary == self._placed)
        self._placed = self.dictionary

    def room(self, data: bytes) -> int:
        """The maximum size of the output for `data`."""
        return self._format.room(data, self.dictionary)

    def note(self, data: bytes, status: str) -> str:
        """An explanation of this status for `data`."""
        return self._format.note(data, status, self.dictionary)

    def verifies(self, data: bytes, output: bytes, status: str) -> bool:
        """Whether the official library agrees: with the bytes, or in refusing the input or the dictionary."""
        return self._format.right(data, output, status, self.dictionary)
