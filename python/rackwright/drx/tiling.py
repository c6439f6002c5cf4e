"""Tiles: the part of a nest in the scratchpad at a time, and its addresses."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from rackwright.drx.banks import Banks
from rackwright.drx.costs import COPIES, Costs
from rackwright.drx.nest import Access, Nest, Operation, Source
from rackwright.drx.stream import Layout
from rackwright.drx.temporaries import lines
from rackwright.drx.tile import Tile


def coalesced(nest: Nest) -> Nest:
    """The same with as few axes as possible: axes are merged if their elements are contiguous everywhere."""
    every = [access.strides for access in nest.accesses] + [nest.strides]
    domains = [domain for each in nest.operations for domain in (each.axes, each.reduced)]
    groups: list[list[int]] = []
    for axis, extent in enumerate(nest.shape):
        if extent == 1:
            continue
        if groups and _are_one(groups[-1][-1], axis, nest, every, domains):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    if not any(group[0] < nest.kept for group in groups):
        groups.insert(0, [0])
    places = {axis: place for place, group in enumerate(groups) for axis in group}

    def seen(source: Source) -> Source:
        if not isinstance(source, Access):
            return source
        return replace(source, strides=tuple(source.strides[group[-1]] for group in groups))

    def along(axes: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted({places[axis] for axis in axes if axis in places}))

    def merged(operation: Operation) -> Operation:
        reduced = along(operation.reduced)
        function = operation.function
        if operation.reduced and not reduced:
            # One element is taken together with no other.
            function = "multiply" if function == "multiply_add" else "move"
        sources = tuple(map(seen, operation.sources))
        return Operation(function, operation.element, sources, along(operation.axes), reduced)

    operations = [merged(each) for each in nest.operations]
    shape = tuple(math.prod(nest.shape[axis] for axis in group) for group in groups)
    strides = tuple(nest.strides[group[-1]] for group in groups)
    kept = sum(group[0] < nest.kept for group in groups)
    return Nest(shape, kept, tuple(operations), nest.offset, strides)


def _are_one(
    before: int, axis: int, nest: Nest, every: list[tuple[int, ...]], domains: list[tuple[int, ...]]
) -> bool:
    return (
        (before < nest.kept) == (axis < nest.kept)
        and all(_follows(strides, before, axis, nest.shape[axis]) for strides in every)
        and all((before in domain) == (axis in domain) for domain in domains)
    )


def _follows(strides: tuple[int, ...], before: int, axis: int, extent: int) -> bool:
    return strides[before] == strides[axis] * extent


@dataclass(frozen=True)
class Buffer:
    """Bytes of the scratchpad, once for each copy; data that several tiles read have one copy."""

    layout: Layout
    places: tuple[int, ...]

    def __str__(self) -> str:
        places = " and ".join(f"{place:#x}" for place in dict.fromkeys(self.places))
        return f"at {places}: {self.layout.transfers} x {self.layout.size} bytes"


@dataclass(frozen=True)
class Tiling:
    """A nest divided into tiles.

    Buffers of inputs, with the accesses that they serve, and of the result; addresses of other results by
    their operation. Operations after all reductions are computed for `strip` indices along the first axis at
    a time.
    """

    nest: Nest
    tile: Tile
    strip: int
    inputs: tuple[tuple[Buffer, tuple[Access, ...]], ...]
    output: Buffer
    temporaries: dict[int, int]

    def __str__(self) -> str:
        extents, stored, whole = (
            " x ".join(map(str, each)) for each in (self.tile.extents, self.tile.stored, self.nest.shape)
        )
        lines = [f"tiles of {extents} of {whole}"]
        if self.tile.parts > 1:
            lines[0] += f", stored in those of {stored}"
        if self.strip < self.tile.extents[0]:
            lines[0] += f", after all that is taken together in strips of {self.strip}"
        lines += [f"  {buffer} for {', '.join(map(str, members))}" for buffer, members in self.inputs]
        lines += [f"  {self.output} for output"]
        lines += [f"  at {place:#x} for %{operation}" for operation, place in self.temporaries.items()]
        return "\n".join([*lines, ""])

    def buffer(self, access: Access) -> tuple[Buffer, int]:
        """The buffer of an access, and the place of its first element in it."""
        for buffer, members in self.inputs:
            if access in members:
                return buffer, buffer.layout.place(access.offset)
        raise KeyError(access)


def placed(costs: Costs, tile: Tile, *, by_banks: bool = True) -> Tiling:
    """Consecutive buffers, each aligned to a line, for a tile that fits.

    Temporaries are in banks of their own where possible; without `by_banks`, they are placed as low as
    possible, which takes less time to find.
    """
    inputs, output = costs.layouts(tile)
    strip = costs.strip(tile)
    assert strip is not None
    line, end = costs.configuration.line_bytes, 0

    def reserve(layout: Layout, copies: int) -> Buffer:
        nonlocal end
        places = []
        for _ in range(copies):
            places.append(end)
            end += lines(layout.bytes, line)
        return Buffer(layout, tuple(places[copy % copies] for copy in range(COPIES)))

    members = [tuple(accesses) for _, accesses in costs.streams]
    buffers = list(zip(map(reserve, inputs, costs.copies(tile)), members, strict=True))
    needed = costs.temporaries(tile, strip, end)
    result = reserve(output, costs.results(tile))
    ranges = {
        access: [(place, place + buffer.layout.bytes) for place in buffer.places]
        for buffer, accesses in buffers
        for access in accesses
    }
    whole = costs.configuration.scratchpad_bytes
    banks = Banks(costs.nest, end, whole, whole // costs.configuration.banks, ranges)
    places = (banks.places(needed) if by_banks else None) or needed.placed(end)[0]
    return Tiling(costs.nest, tile, strip, tuple(buffers), result, places)
