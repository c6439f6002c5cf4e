"""The ZStd unit: its settings, and the check of its results."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Unpack

from rackwright.compression import libzstd
from rackwright.compression.codec import CodecOptions, CodecUnit
from rackwright.compression.zstd_frames import Frame, frames
from rackwright.errors import RackwrightError
from rackwright.unit.alone import Unit

# What a unit may fill when the headers of the frames don't tell how much it is.
_MOST_ROOM = 1 << 30
_LEAST_ROOM = 1 << 16

DICTIONARY_ADDRESS, DICTIONARY_LENGTH = "dictionary_address", "dictionary_length"
DICTIONARY_KEPT = "dictionary_kept"
"""Commands: where the dictionary is, its bytes (0 for none), and whether they are those
that the last operation read there. The compressor takes the first two, for the content."""

CHECKSUM = "checksum"
"""The command of the compressor that says whether frames have a checksum."""

DICTIONARY_ID, DICTIONARY_OFFSETS = "dictionary_id", "dictionary_offsets"
"""Commands of the compressor: the number that frames name, and the three offsets that they begin with."""

_TRAINED = 0xEC30A437.to_bytes(4, "little")
_OFFSET_BITS = 16


@dataclass(frozen=True)
class _Content:
    """A dictionary as the compressor is told of it: what matches may reach, its number, its offsets."""

    data: bytes
    number: int = 0
    offsets: tuple[int, ...] = (1, 4, 8)

    @classmethod
    def of(cls, dictionary: bytes) -> _Content:
        if not dictionary.startswith(_TRAINED):
            return cls(dictionary)
        head = libzstd.dictionary_head(dictionary)
        numbers = struct.unpack("<3I", dictionary[head - 12 : head])
        return cls(dictionary[head:], int.from_bytes(dictionary[4:8], "little"), numbers)

    def packed_offsets(self) -> int:
        """What DICTIONARY_OFFSETS takes; an offset that is too far for the unit is left out."""
        near = [offset if offset >> _OFFSET_BITS == 0 else 0 for offset in self.offsets]
        return sum(offset << _OFFSET_BITS * i for i, offset in enumerate(near))


class ZstdUnit(CodecUnit):
    """A ZStd unit that compresses or decompresses one buffer after the other."""

    def __init__(
        self,
        operation: str,
        *,
        checksum: bool = False,
        dictionary: bytes = b"",
        **options: Unpack[CodecOptions],
    ) -> None:
        """Builds the unit for `operation` ("compress" or "decompress").

        With `checksum` (compress), frames have one. `dictionary` is a trained one or only content; it lies in
        memory beside the input of each operation. `CodecUnit` has the other options.
        """
        if checksum and operation != "compress":
            raise RackwrightError("the checksum is a setting of compression")
        self.dictionary = dictionary
        self._placed = b""
        super().__init__("zstd", operation, **options)
        if checksum:
            self.set("checksum", 1, CHECKSUM, 1)
        if dictionary:
            self.settings["dictionary-bytes"] = len(dictionary)

    def equip(self, warm: str | None) -> None:
        """Puts the dictionary into memory and tells the unit where, and whether it is the one of before."""
        compressing = self.operation == "compress"
        content = _Content.of(self.dictionary) if compressing else _Content(self.dictionary)
        same = self.dictionary == self._placed
        place_dictionary(self.unit, content.data, warm, same=same)
        if self.dictionary and not compressing:
            self.unit.command(DICTIONARY_KEPT, int(same))
        if compressing and not same:
            self.unit.command(DICTIONARY_ID, content.number)
            self.unit.command(DICTIONARY_OFFSETS, content.packed_offsets())
        self._placed = self.dictionary

    def room(self, data: bytes) -> int:
        """The most bytes that the operation can make of `data`."""
        if self.operation == "compress":
            return most_compressed_bytes(len(data))
        return most_decompressed_bytes(data, self.dictionary)

    def note(self, data: bytes, status: str) -> str:
        """Why a frame was left, and where `ZSTD_decompress` is not the library's only opinion."""
        return "" if self.operation == "compress" else decompression_note(data, status, self.dictionary)

    def verifies(self, data: bytes, output: bytes, status: str) -> bool:
        """Whether the official library agrees: with the bytes, or in refusing the input or the dictionary."""
        if self.operation == "compress":
            return status == "ok" and libzstd.decompress(output, len(data), self.dictionary) == data
        return decompressed_right(data, output, status, self.dictionary)


def place_dictionary(unit: Unit, content: bytes, warm: str | None, *, same: bool) -> None:
    """Puts `content` into memory, and tells `unit` where; and how long it is, if not the `same` as before."""
    if content:
        buffer = unit.load(content)
        if warm is not None:
            unit.bench.warm(buffer.address, buffer.length, warm)
        unit.command(DICTIONARY_ADDRESS, buffer.address)
    if not same:
        unit.command(DICTIONARY_LENGTH, len(content))


def most_decompressed_bytes(data: bytes, dictionary: bytes = b"") -> int:
    """Room for what the frames `data` stand for, as their headers say.

    Of input that the library refuses with so much room, the blocks may stand for more: a unit must not come
    to the end of its room before it finds what is wrong.
    """
    promised = libzstd.bound(data) or _LEAST_ROOM
    if promised < _MOST_ROOM and isinstance(libzstd.decompress(data, promised, dictionary), str):
        promised = max(promised, sum(frame.most_bytes for frame in frames(data)))
    return min(promised, _MOST_ROOM)


def decompressed_right(data: bytes, output: bytes, status: str, dictionary: bytes = b"") -> bool:
    """Whether the official library makes `output` of the frames `data`, or refuses them or the dictionary.

    A frame is also refused rightly for a size of its content that the library takes for "unknown", and for a
    block that is longer than RFC 8878 allows, which the library refuses only when it is given parts.
    """
    room = max(most_decompressed_bytes(data, dictionary), len(output))
    expected = libzstd.decompress(data, room, dictionary)
    if status == "unsupported":
        # Of a header that is cut off the library says so first, the unit what dictionary it names.
        names_another = _naming_another(data, dictionary) is not None
        return expected == libzstd.WRONG_DICTIONARY or (isinstance(expected, str) and names_another)
    if status == "malformed":
        is_refused = isinstance(expected, str)
        return is_refused or _with_largest_size(data) is not None or _with_long_block(data) is not None
    return status == "ok" and expected == output and _with_long_block(data) is None


def decompression_note(data: bytes, status: str, dictionary: bytes = b"") -> str:
    """What a status of frames leaves open: which dictionary is missing, where the library says two things."""
    if status == "unsupported":
        other = _naming_another(data, dictionary)
        return "" if other is None else _missing_dictionary(other, _number(dictionary), dictionary)
    if status != "malformed":
        return ""
    largest = _with_largest_size(data)
    if largest is not None:
        return (
            f"the frame at offset {largest.offset} has a content size of 2^64 - 1, which RFC 8878 takes "
            "for a size, and ZSTD_decompress for an unknown one"
        )
    longest = _with_long_block(data)
    if longest is not None and _is_taken(data, dictionary):
        return (
            f"the frame at offset {longest.offset} has a block that is longer than its window or 128 KiB; "
            "RFC 8878, ZSTD_decompressStream and `zstd -d` refuse it, ZSTD_decompress takes it"
        )
    return ""


def _with_largest_size(data: bytes) -> Frame | None:
    """The first frame of `data` with the largest content size there is."""
    return next((frame for frame in frames(data) if frame.largest_size), None)


def _with_long_block(data: bytes) -> Frame | None:
    """The first frame of `data` with a block that is not compressed and longer than it may be."""
    return next((frame for frame in frames(data) if frame.long_block), None)


def _is_taken(data: bytes, dictionary: bytes) -> bool:
    """Whether the library decompresses the frames `data` in one call."""
    room = most_decompressed_bytes(data, dictionary)
    return isinstance(libzstd.decompress(data, room, dictionary), bytes)


def _number(dictionary: bytes) -> int:
    """The number of a trained dictionary; 0 of one that is only content."""
    return int.from_bytes(dictionary[4:8], "little") if dictionary.startswith(_TRAINED) else 0


def _naming_another(data: bytes, dictionary: bytes) -> Frame | None:
    """The first frame of `data` that names a dictionary other than `dictionary`."""
    known = (0, _number(dictionary))
    return next((frame for frame in frames(data) if frame.dictionary not in known), None)


def _missing_dictionary(frame: Frame, given: int, dictionary: bytes) -> str:
    named = f"the frame at offset {frame.offset} names dictionary {frame.dictionary}"
    here = "none was given"
    if dictionary:
        here = f"the one given is {given}" if given else "the one given has no number"
    return f"{named}, {here} (--dictionary FILE)"


def most_compressed_bytes(length: int) -> int:
    """Room that is always enough for the frame of `length` bytes: the contract page of the unit says why."""
    return length + length // 6 + 64
