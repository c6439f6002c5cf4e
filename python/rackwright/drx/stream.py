"""Transfers between memory and the scratchpad for a tile: bytes, rows, and layout."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rackwright.drx.kernel import row_major
from rackwright.drx.nest import Access, Nest


@dataclass(frozen=True)
class Stream:
    """Elements of one region of memory over the domain of a nest: one for each index, and `more` after it.

    The one at index i is `offset + sum(i * strides)`, in elements. Region 0 is the output.
    """

    region: int
    element_bytes: int
    offset: int
    more: int
    strides: tuple[int, ...]


@dataclass(frozen=True)
class Rows:
    """A loop around the transfers of a tile."""

    count: int
    memory_stride: int
    buffer_stride: int


@dataclass(frozen=True)
class Layout:
    """The layout of a tile's part of a stream in its buffer. All in bytes.

    `memory` is the first byte of the first row, seen from the beginning of the region, for the tile at
    index 0; `strides` lead from element to element in the buffer, `first` is the place of the stream's
    element at the tile's first index.
    """

    stream: Stream
    memory: int
    size: int
    rows: tuple[Rows, ...]
    strides: tuple[int, ...]
    first: int

    @property
    def transfers(self) -> int:
        """Instructions to load or store it, loops counted through."""
        return math.prod(row.count for row in self.rows)

    @property
    def bytes(self) -> int:
        """Bytes of the buffer."""
        return self.transfers * self.size


def streams_of(nest: Nest) -> list[tuple[Stream, list[Access]]]:
    """The streams of each input: accesses that share elements, or are close, share a stream."""
    found: list[tuple[Stream, list[Access]]] = []
    for access in sorted(nest.accesses, key=lambda each: (each.input, each.strides, each.offset)):
        if found:
            stream, members = found[-1]
            alike = stream.region == access.input + 1 and stream.strides == access.strides
            if alike and _is_near(access.offset - stream.offset, access, nest.shape):
                more = access.offset - stream.offset
                found[-1] = (
                    Stream(stream.region, stream.element_bytes, stream.offset, more, stream.strides),
                    [*members, access],
                )
                continue
        own = Stream(access.input + 1, access.element.bytes, access.offset, 0, access.strides)
        found.append((own, [access]))
    return found


_NEAR = 64
"""Bytes from an element to another one that is loaded with it, including those in between."""


def _is_near(more: int, access: Access, shape: tuple[int, ...]) -> bool:
    """Elements of an access, and those at this distance, are best loaded together."""
    reach = max(map(abs, access.strides), default=0)
    steps = [(abs(stride), extent) for stride, extent in zip(access.strides, shape, strict=True) if stride]
    shared = any(more % stride == 0 and more // stride < extent for stride, extent in steps)
    return more <= reach and (shared or more * access.element.bytes <= _NEAR)


def loaded(stream: Stream, tile: tuple[int, ...]) -> Layout:
    """The layout with the fewest bytes: all from the first element to the last, or rows of such spans."""
    by_stride = sorted(range(len(tile)), key=lambda axis: -abs(stream.strides[axis]))
    layouts = [_spans(stream, tile, by_stride[:count]) for count in range(len(tile) + 1)]
    return min(layouts, key=lambda each: each.bytes + _ROW_COST * each.transfers)


_ROW_COST = 64
"""The cost of an additional transfer, in bytes that could be loaded in its time."""


def _spans(stream: Stream, tile: tuple[int, ...], outer: list[int]) -> Layout:
    """Rows along some axes, each of which covers all bytes from its first element to the last."""
    size, inner = stream.element_bytes, [axis for axis in range(len(tile)) if axis not in outer]
    reach = {axis: (tile[axis] - 1) * stream.strides[axis] for axis in inner}
    before = sum(min(0, steps) for steps in reach.values())
    span = (sum(map(abs, reach.values())) + 1 + stream.more) * size
    moving = [axis for axis in outer if stream.strides[axis] and tile[axis] > 1]
    pitches = [span * step for step in row_major(tuple(tile[axis] for axis in moving))]
    rows = [
        Rows(tile[axis], stream.strides[axis] * size, pitch)
        for axis, pitch in zip(moving, pitches, strict=True)
    ]
    strides = [stream.strides[axis] * size if axis in inner else 0 for axis in range(len(tile))]
    for axis, pitch in zip(moving, pitches, strict=True):
        strides[axis] = pitch
    memory = (stream.offset + before) * size
    return Layout(stream, memory, span, tuple(rows), tuple(strides), -before * size)


def stored(stream: Stream, tile: tuple[int, ...]) -> Layout:
    """The layout of a tile of the result: row-major, in rows as long as they are contiguous in memory."""
    dense = row_major(tile)
    outer = len(tile)
    while outer and (tile[outer - 1] == 1 or dense[outer - 1] == stream.strides[outer - 1]):
        outer -= 1
    size = stream.element_bytes
    run = math.prod(tile[outer:]) * size
    rows = [
        Rows(tile[axis], stream.strides[axis] * size, dense[axis] * size)
        for axis in range(outer)
        if tile[axis] > 1
    ]
    return Layout(stream, stream.offset * size, run, tuple(rows), tuple(each * size for each in dense), 0)
