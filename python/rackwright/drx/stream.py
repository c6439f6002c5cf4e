"""Transfers between memory and the scratchpad for a tile: bytes, rows, and layout."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from rackwright.drx.kernel import row_major
from rackwright.drx.nest import Access, Nest


@dataclass(frozen=True)
class Stream:
    """Elements of one region of memory over the domain of a nest: one for each index, and `more` after it.

    The one at index i is `offset + sum(i * strides)`, in elements. There are `parts` of such elements,
    `apart` from one to the next. Region 0 is the output.
    """

    region: int
    element_bytes: int
    offset: int
    more: int
    strides: tuple[int, ...]
    parts: int = 1
    apart: int = 0


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
    index 0; `strides` lead from element to element in the buffer, `between` from one part of the stream to
    the next, `first` is the place of the stream's element at the tile's first index. `bytes` are those of
    the buffer.
    """

    stream: Stream
    memory: int
    size: int
    rows: tuple[Rows, ...]
    strides: tuple[int, ...]
    between: int
    first: int
    bytes: int

    @property
    def transfers(self) -> int:
        """Instructions to load or store it, loops counted through."""
        return math.prod(row.count for row in self.rows)

    def place(self, offset: int) -> int:
        """The first byte in the buffer of an access that begins with this element of the region."""
        further = offset - self.stream.offset
        part, within = divmod(further, self.stream.apart) if self.stream.parts > 1 else (0, further)
        return self.first + part * self.between + within * self.stream.element_bytes


def streams_of(nest: Nest) -> list[tuple[Stream, list[Access]]]:
    """The streams of each input: accesses that share elements, are close, or take turns, share a stream."""
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
    return _with_turns(found, nest)


def _with_turns(found: list[tuple[Stream, list[Access]]], nest: Nest) -> list[tuple[Stream, list[Access]]]:
    """Streams that take turns along an axis are parts of one, whose rows one loop loads.

    Operands that an operation reads together stay in buffers of their own, which may be in different banks.
    """
    runs: list[list[tuple[Stream, list[Access]]]] = []
    for each in found:
        if runs and _continues([stream for stream, _ in runs[-1]], each[0]):
            runs[-1].append(each)
        else:
            runs.append([each])
    joined: list[tuple[Stream, list[Access]]] = []
    for run in runs:
        first, parts = run[0][0], len(run)
        apart = run[-1][0].offset - run[-2][0].offset if parts > 1 else 0
        if parts * apart in first.strides and not _meet([members for _, members in run], nest):
            members = [access for _, own in run for access in own]
            joined.append((replace(first, parts=parts, apart=apart), members))
        else:
            joined += run
    return joined


def _continues(run: list[Stream], stream: Stream) -> bool:
    """A stream has the elements of the others, at the distance from the last one that those have."""
    last = run[-1]
    apart = stream.offset - last.offset
    same = replace(stream, offset=last.offset) == last and apart > last.more
    return same and (len(run) == 1 or apart == last.offset - run[-2].offset)


def _meet(streams: list[list[Access]], nest: Nest) -> bool:
    """An operation reads several of the streams."""
    read = (set(operation.sources) for operation in nest.operations)
    return any(sum(not sources.isdisjoint(members) for members in streams) > 1 for sources in read)


_NEAR = 64
"""Bytes from an element to another one that is loaded with it, including those in between."""


def _is_near(more: int, access: Access, shape: tuple[int, ...]) -> bool:
    """Elements of an access, and those at this distance, are best loaded together."""
    reach = max(map(abs, access.strides), default=0)
    steps = [(abs(stride), extent) for stride, extent in zip(access.strides, shape, strict=True) if stride]
    shared = any(more % stride == 0 and more // stride < extent for stride, extent in steps)
    return more <= reach and (shared or more * access.element.bytes <= _NEAR)


def loaded(stream: Stream, tile: tuple[int, ...], room: tuple[int, ...]) -> Layout:
    """The layout with the fewest bytes: all from the first element to the last, or rows of such spans.

    There is room for as many elements as `room` has along each axis.
    """
    extents, steps = (*tile, stream.parts), (*stream.strides, stream.apart)
    by_stride = sorted(range(len(extents)), key=lambda axis: -abs(steps[axis]))
    # Rows along an axis of one element change nothing.
    counts = [0, *(place + 1 for place, axis in enumerate(by_stride) if steps[axis] and extents[axis] > 1)]
    layouts = [_spans(stream, tile, room, by_stride[:count]) for count in counts]
    return min(layouts, key=lambda each: each.transfers * (each.size + _ROW_COST))


_ROW_COST = 64
"""The cost of an additional transfer, in bytes that could be loaded in its time."""


def _spans(stream: Stream, tile: tuple[int, ...], room: tuple[int, ...], outer: list[int]) -> Layout:
    """Rows along some axes, each of which covers all bytes from its first element to the last.

    The last axis is that of the parts of the stream.
    """
    extents, rooms, steps = (*tile, stream.parts), (*room, stream.parts), (*stream.strides, stream.apart)
    size, inner = stream.element_bytes, [axis for axis in range(len(extents)) if axis not in outer]
    before = sum(min(0, (extents[axis] - 1) * steps[axis]) for axis in inner)
    span, pitch = (
        (sum((each[axis] - 1) * abs(steps[axis]) for axis in inner) + 1 + stream.more) * size
        for each in (extents, rooms)
    )
    moving = [axis for axis in outer if steps[axis] and extents[axis] > 1]
    # Each part is whole in the buffer: its rows follow one another.
    moving.sort(key=lambda axis: axis < len(tile))
    pitches = [pitch * step for step in row_major(tuple(rooms[axis] for axis in moving))]
    rows = [Rows(extents[axis], steps[axis] * size, own) for axis, own in zip(moving, pitches, strict=True)]
    strides = [steps[axis] * size if axis in inner else 0 for axis in range(len(extents))]
    for axis, own in zip(moving, pitches, strict=True):
        strides[axis] = own
    return Layout(
        stream,
        memory=(stream.offset + before) * size,
        size=span,
        rows=_joined(rows),
        strides=tuple(strides[:-1]),
        between=strides[-1],
        first=-before * size,
        bytes=pitch * math.prod(rooms[axis] for axis in moving),
    )


def _joined(rows: Iterable[Rows]) -> tuple[Rows, ...]:
    """Loops as one where each continues where the next one ends."""
    found: list[Rows] = []
    for row in rows:
        whole = (row.count * row.memory_stride, row.count * row.buffer_stride)
        if found and (found[-1].memory_stride, found[-1].buffer_stride) == whole:
            row = replace(row, count=row.count * found.pop().count)
        found.append(row)
    return tuple(found)


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
    return Layout(
        stream,
        memory=stream.offset * size,
        size=run,
        rows=_joined(rows),
        strides=tuple(each * size for each in dense),
        between=0,
        first=0,
        bytes=math.prod(tile) * size,
    )
