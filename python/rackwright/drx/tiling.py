"""Tiles: how much of a nest is in the scratchpad at a time, and where."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from rackwright.drx.configuration import Configuration
from rackwright.drx.isa import isa
from rackwright.drx.nest import Access, Nest, Operation, Result, Source
from rackwright.drx.stream import Layout, Stream, loaded, stored, streams_of
from rackwright.errors import RackwrightError

COPIES = 2
"""Buffers for what is loaded and stored: one is computed with while the other one moves."""


def coalesced(nest: Nest) -> Nest:
    """The same with as few axes as can be: those are one whose elements follow one another everywhere."""
    every = [access.strides for access in nest.accesses] + [nest.strides]
    kept: list[list[int]] = []
    for axis, extent in enumerate(nest.shape):
        if extent == 1:
            continue
        if kept and all(_follows(strides, kept[-1][-1], axis, extent) for strides in every):
            kept[-1].append(axis)
        else:
            kept.append([axis])
    groups = kept or [[0]]

    def seen(source: Source) -> Source:
        if not isinstance(source, Access):
            return source
        return replace(source, strides=tuple(source.strides[group[-1]] for group in groups))

    operations = [replace(each, sources=tuple(map(seen, each.sources))) for each in nest.operations]
    shape = tuple(math.prod(nest.shape[axis] for axis in group) for group in groups)
    strides = tuple(nest.strides[group[-1]] for group in groups)
    return Nest(shape, tuple(operations), nest.offset, strides)


def _follows(strides: tuple[int, ...], before: int, axis: int, extent: int) -> bool:
    return strides[before] == strides[axis] * extent


@dataclass(frozen=True)
class Buffer:
    """Bytes of the scratchpad, once for each copy."""

    layout: Layout
    places: tuple[int, ...]

    def __str__(self) -> str:
        places = " and ".join(f"{place:#x}" for place in self.places)
        return f"at {places}: {self.layout.transfers} x {self.layout.size} bytes"


@dataclass(frozen=True)
class Tiling:
    """A nest cut into tiles of `tile` elements along each axis.

    Buffers of inputs, with the accesses that they serve, and of the result; places of other results by the
    operation that they are of.
    """

    nest: Nest
    tile: tuple[int, ...]
    inputs: tuple[tuple[Buffer, tuple[Access, ...]], ...]
    output: Buffer
    temporaries: dict[int, int]

    def __str__(self) -> str:
        extents = " x ".join(map(str, self.tile))
        lines = [f"tiles of {extents} of {' x '.join(map(str, self.nest.shape))}"]
        lines += [f"  {buffer} for {', '.join(map(str, members))}" for buffer, members in self.inputs]
        lines += [f"  {self.output} for output"]
        lines += [f"  at {place:#x} for %{operation}" for operation, place in self.temporaries.items()]
        return "\n".join([*lines, ""])

    def buffer(self, access: Access) -> tuple[Buffer, int]:
        """The buffer of an access, and the place of its first element in it."""
        for buffer, members in self.inputs:
            if access in members:
                stream = buffer.layout.stream
                further = (access.offset - stream.offset) * stream.element_bytes
                return buffer, buffer.layout.first + further
        raise KeyError(access)


def tiled(nest: Nest, configuration: Configuration) -> Tiling:
    """The nest in the largest tiles that the scratchpad has room for."""
    nest = coalesced(nest)
    tile = nest.shape
    while not _fits(nest, tile, configuration):
        smaller = [_halved(nest, tile, axis) for axis in range(len(tile)) if tile[axis] > 1]
        if not smaller:
            raise RackwrightError(
                "an element of the result and all that it is made of need more than the "
                f"{configuration.scratchpad_kib} KiB of the scratchpad"
            )
        tile = min(smaller, key=lambda each: _bytes(nest, each, configuration) / math.prod(each) ** 0.5)
    return _placed(nest, _whole(nest, tile, configuration), configuration)


def _halved(nest: Nest, tile: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """Tiles of half as many elements along an axis, all of which have nearly as many."""
    parts = 2 * math.ceil(nest.shape[axis] / tile[axis])
    smaller = min(math.ceil(nest.shape[axis] / parts), tile[axis] - 1)
    return (*tile[:axis], smaller, *tile[axis + 1 :])


def _whole(nest: Nest, tile: tuple[int, ...], configuration: Configuration) -> tuple[int, ...]:
    """Tiles of one axis end with a line, so that the next one begins with one."""
    line = configuration.line_bytes
    if len(tile) > 1 or tile == nest.shape or tile[0] < line:
        return tile
    return (tile[0] // line * line,)


def _layouts(nest: Nest, tile: tuple[int, ...]) -> tuple[list[tuple[Layout, list[Access]]], Layout]:
    inputs = [(loaded(stream, tile), members) for stream, members in streams_of(nest)]
    result = Stream(0, nest.element.bytes, nest.offset, 0, nest.strides)
    return inputs, stored(result, tile)


def _fits(nest: Nest, tile: tuple[int, ...], configuration: Configuration) -> bool:
    functions = isa().functions
    most_bytes = next(f for f in functions["load"].fields if f.name == "size").range.stop
    most_elements = functions["length"].fields[0].range.stop
    most_transfers = next(f for f in functions["wait_loads"].fields if f.name == "count").range.stop
    inputs, output = _layouts(nest, tile)
    layouts = [*(layout for layout, _ in inputs), output]
    return (
        all(layout.size < most_bytes for layout in layouts)
        and sum(layout.transfers for layout in layouts) < most_transfers
        and math.prod(tile) < most_elements
        and _bytes(nest, tile, configuration) <= configuration.scratchpad_bytes
    )


def _bytes(nest: Nest, tile: tuple[int, ...], configuration: Configuration) -> int:
    """Bytes of all buffers."""
    inputs, output = _layouts(nest, tile)
    line = configuration.line_bytes
    moved = [_lines(layout.bytes, line) for layout in (*(layout for layout, _ in inputs), output)]
    return COPIES * sum(moved) + _temporaries(nest, tile, line, 0)[1]


def _lines(size: int, line: int) -> int:
    return math.ceil(size / line) * line


def _temporaries(nest: Nest, tile: tuple[int, ...], line: int, begin: int) -> tuple[dict[int, int], int]:
    """Places of results between operations, which are used again after the last operation that reads them.

    Gives the end of all, too.
    """
    last: dict[int, int] = {}
    for place, operation in enumerate(nest.operations):
        last.update({source.operation: place for source in operation.sources if isinstance(source, Result)})
    places: dict[int, int] = {}
    free: list[tuple[int, int]] = []
    end = begin
    for place, operation in enumerate(nest.operations[:-1]):
        size = _lines(math.prod(tile) * operation.element.bytes, line)
        fitting = [each for each in free if each[1] >= size]
        if fitting:
            chosen = min(fitting, key=lambda each: each[1])
            free.remove(chosen)
            places[place] = chosen[0]
            if chosen[1] > size:
                free.append((chosen[0] + size, chosen[1] - size))
        else:
            places[place] = end
            end += size
        free += [(places[each], _size(nest, each, tile, line)) for each in _ended(operation, last, place)]
    return places, end


def _ended(operation: Operation, last: dict[int, int], place: int) -> Iterable[int]:
    """Results that nobody reads after the operation at `place`."""
    read = dict.fromkeys(source.operation for source in operation.sources if isinstance(source, Result))
    return [each for each in read if last[each] == place]


def _size(nest: Nest, operation: int, tile: tuple[int, ...], line: int) -> int:
    return _lines(math.prod(tile) * nest.operations[operation].element.bytes, line)


def _placed(nest: Nest, tile: tuple[int, ...], configuration: Configuration) -> Tiling:
    """Buffers one behind the other, each at the beginning of a line."""
    inputs, output = _layouts(nest, tile)
    line, end = configuration.line_bytes, 0

    def reserve(layout: Layout) -> Buffer:
        nonlocal end
        places = []
        for _ in range(COPIES):
            places.append(end)
            end += _lines(layout.bytes, line)
        return Buffer(layout, tuple(places))

    buffers = [(reserve(layout), tuple(members)) for layout, members in inputs]
    result = reserve(output)
    temporaries, _ = _temporaries(nest, tile, line, end)
    return Tiling(nest, tile, tuple(buffers), result, temporaries)
