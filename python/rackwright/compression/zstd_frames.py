"""What the headers of ZStd frames and blocks say (RFC 8878, section 3.1), as far as they can be read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import zstandard

_LONGEST_HEAD = 18
_BLOCK_HEAD, _BLOCK_MOST = 3, 1 << 17
_CHECKSUM = 4
_SIZE_OF_8 = 3
"""The upper bits of the byte after the magic number, if the content size has 8 bytes."""
_RAW, _REPEATED, _COMPRESSED = range(3)
_SKIPPABLE = 0x184D2A5
"""The magic number of skippable frames, without its last four bits."""


@dataclass(frozen=True)
class Frame:
    """A frame of `data`: where it begins, the dictionary that it names (0: none), and its blocks.

    `most_bytes` is what the blocks can stand for together. `long_block`: one that is not compressed stands
    for more than a block of this frame may. `largest_size`: its content size is the largest number there is.
    """

    offset: int
    dictionary: int
    most_bytes: int
    long_block: bool
    largest_size: bool


def frames(data: bytes) -> Iterator[Frame]:
    """The frames of `data` in order, without skippable ones; the last one may be cut off or damaged."""
    at: int | None = 0
    while at is not None:
        # A header that is cut off may have named its dictionary before.
        head = data[at : at + _LONGEST_HEAD].ljust(_LONGEST_HEAD, b"\0")
        if int.from_bytes(head[:4], "little") >> 4 == _SKIPPABLE:
            at += 8 + int.from_bytes(head[4:8], "little")
            continue
        try:
            size, told = zstandard.frame_header_size(head), zstandard.get_frame_parameters(head)
        except zstandard.ZstdError:
            return
        most = min(told.window_size, _BLOCK_MOST)
        sizes, end = _blocks(data, at + size)
        yield Frame(
            offset=at,
            dictionary=told.dict_id,
            most_bytes=sum(most if kind == _COMPRESSED else size for kind, size in sizes),
            long_block=any(kind != _COMPRESSED and size > most for kind, size in sizes),
            largest_size=head[4] >> 6 == _SIZE_OF_8 and head[:size].endswith(b"\xff" * 8),
        )
        at = None if end is None else end + _CHECKSUM * told.has_checksum


def _blocks(data: bytes, at: int) -> tuple[list[tuple[int, int]], int | None]:
    """Kinds and sizes of the blocks from `at` on, and where they end: None where the last is not there."""
    blocks: list[tuple[int, int]] = []
    while at + _BLOCK_HEAD <= len(data):
        head = int.from_bytes(data[at : at + _BLOCK_HEAD], "little")
        kind, size = head >> 1 & 3, head >> 3
        if kind > _COMPRESSED:
            break
        blocks.append((kind, size))
        at += _BLOCK_HEAD + (1 if kind == _REPEATED else size)
        if head & 1:
            return blocks, at
    return blocks, None
