"""The bytes of a trace: its header and its chunks (docs/trace.md describes every field)."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from rackwright.errors import RackwrightError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MAGIC = b"rwtrace\0"
VERSION = 1

_HEAD = struct.Struct("<8sII")
_CHUNK = struct.Struct("<8I3QI")
_SUMMED = _CHUNK.size - 4
_END, _BLOCKS = 0, 1
_MOST_BYTES = 1 << 30
"""No chunk is longer than that, compressed or not."""


class TraceError(RackwrightError):
    """A file is not a trace, or is damaged; the data before the damage have already been returned."""


@dataclass(frozen=True)
class Head:
    """A chunk before it is decompressed.

    `codes`, `words`, `contexts` and `blocks` are the lengths of its columns; the chunk's blocks ended after
    cycle `before`, the last one of them in cycle `last`.
    """

    hart: int
    codes: int
    words: int
    contexts: int
    blocks: int
    instructions: int
    before: int
    last: int
    compressed: bytes
    length: int


@dataclass(frozen=True)
class Columns:
    """The contents of a chunk.

    For each code: address and number of its instructions; all codes' instruction words; for each context: the
    block from which it applies, privilege (0, 1 or 3) and address space (`satp`); for each block: the index
    of its code, the number of its executed instructions, and the cycles since the end of the previous block.
    """

    addresses: npt.NDArray[np.uint64]
    lengths: npt.NDArray[np.uint8]
    words: npt.NDArray[np.uint32]
    begins: npt.NDArray[np.uint32]
    privileges: npt.NDArray[np.uint8]
    spaces: npt.NDArray[np.uint64]
    places: npt.NDArray[np.uint32]
    executed: npt.NDArray[np.uint8]
    cycles: npt.NDArray[np.uint64]


def read_head(file: IO[bytes], path: Path) -> dict[str, Any]:
    """What ran; raises `TraceError` when the file is no trace of a known version."""
    fixed = file.read(_HEAD.size)
    if len(fixed) < _HEAD.size or not fixed.startswith(MAGIC):
        raise TraceError(f"{path}: not a trace; `rw profile --trace FILE -- …` makes one")
    _, version, length = _HEAD.unpack(fixed)
    if version != VERSION:
        raise TraceError(f"{path}: a trace of version {version}; this reads version {VERSION}")
    about = file.read(min(length, _MOST_BYTES))
    summed = file.read(4)
    if summed != zlib.crc32(fixed + about).to_bytes(4, "little"):
        raise TraceError(f"{path}: the head of the trace is damaged")
    said: dict[str, Any] = json.loads(about)
    return said


def read_chunks(file: IO[bytes], path: Path) -> Iterator[Head]:
    """All chunks with blocks; at the first damage raises `TraceError`, which says where it is."""
    while True:
        at = file.tell()
        fixed = file.read(_CHUNK.size)
        if len(fixed) < _CHUNK.size:
            raise TraceError(f"{path}: the trace is truncated at byte {at}; everything before is intact")
        kind, hart, compressed, length, *numbers, summed = _CHUNK.unpack(fixed)
        payload = file.read(min(compressed, _MOST_BYTES))
        sum_ = zlib.crc32(payload, zlib.crc32(fixed[:_SUMMED]))
        if len(payload) < compressed and not file.read(1):
            raise TraceError(f"{path}: the trace is truncated at byte {at}; everything before is intact")
        if sum_ != summed or kind not in (_END, _BLOCKS) or length > _MOST_BYTES:
            raise TraceError(f"{path}: the trace is damaged at byte {at}; everything before is intact")
        if kind == _END:
            return
        codes, words, contexts, blocks, instructions, before, last = numbers
        yield Head(hart, codes, words, contexts, blocks, instructions, before, last, payload, length)


def columns_of(head: Head) -> Columns:
    """The columns of a chunk."""
    import numpy as np
    import zstandard

    payload = zstandard.ZstdDecompressor().decompress(head.compressed, max_output_size=head.length)
    at = 0

    def column(count: int, kind: type[np.unsignedinteger[Any]]) -> npt.NDArray[Any]:
        # The lowest bytes of all numbers come first.
        nonlocal at
        width = np.dtype(kind).itemsize
        planes = np.frombuffer(payload, np.uint8, count * width, at).reshape(width, count)
        at += count * width
        return np.ascontiguousarray(planes.T).view(np.dtype(kind).newbyteorder("<")).reshape(count)

    return Columns(
        addresses=column(head.codes, np.uint64),
        lengths=column(head.codes, np.uint8),
        words=column(head.words, np.uint32),
        begins=column(head.contexts, np.uint32),
        privileges=column(head.contexts, np.uint8),
        spaces=column(head.contexts, np.uint64),
        places=column(head.blocks, np.uint32),
        executed=column(head.blocks, np.uint8),
        cycles=column(head.blocks, np.uint64),
    )
