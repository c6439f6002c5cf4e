"""Addresses of intermediate results in the scratchpad."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from rackwright.drx.nest import Access, Nest, Operation, Result
from rackwright.drx.order import order_of
from rackwright.drx.tile import Tile


def lines(size: int, line: int) -> int:
    """Bytes of all lines that `size` bytes begin."""
    return math.ceil(size / line) * line


def stripped(nest: Nest, tile: tuple[int, ...], strip: int, place: int) -> tuple[int, ...]:
    """The part of a tile that an operation is computed over at a time."""
    return (strip, *tile[1:]) if place in nest.late else tile


@dataclass(frozen=True)
class Temporaries:
    """Temporaries of a tile, and their lifetimes.

    One is needed until the last operation that reads it. Those of reductions live from the first part to the
    last; those computed once for several tiles also persist, if each of these reads them. Operations after
    all reductions have room for `strip` indices along the first axis at a time; earlier results that they
    read persist for the following strips.

    The first `spare` bytes of the scratchpad are buffers of inputs, where results of operations in `reusing`
    may be.
    """

    nest: Nest
    tile: Tile
    line: int
    strip: int
    spare: int

    def size(self, place: int) -> int:
        """Bytes of all lines of the result of an operation."""
        operation = self.nest.operations[place]
        room = stripped(self.nest, self.tile.room, self.strip, place)
        elements = math.prod(room[axis] for axis in operation.axes)
        return lines(elements * operation.element.bytes, self.line)

    @cached_property
    def _once(self) -> frozenset[int]:
        return order_of(self.nest, self.tile.stored).once

    @cached_property
    def _sequence(self) -> list[int]:
        """Operations but for the last: those computed once are first, those computed in strips last."""
        every = range(len(self.nest.operations) - 1)
        return sorted(every, key=lambda each: (each not in self._once, each in self._in_strips))

    @cached_property
    def _in_strips(self) -> frozenset[int]:
        """None if a strip is the whole tile."""
        return self.nest.late if self.strip < self.tile.extents[0] else frozenset()

    @cached_property
    def reusing(self) -> frozenset[int]:
        """Operations after all that read inputs, and after all reductions, if no later ones read any."""
        reading = {
            place
            for place, operation in enumerate(self.nest.operations)
            if any(isinstance(source, Access) for source in operation.sources)
        }
        if not self.spare or not self.nest.late or reading & self.nest.late:
            return frozenset()
        after = max((self._sequence.index(place) + 1 for place in reading), default=0)
        return frozenset(
            place
            for place in self._sequence[after:]
            if place in self.nest.late and not self.nest.operations[place].reduced
        )

    def turns(self) -> Iterator[tuple[list[int], list[int]]]:
        """Operations in their order: which need a place at a time, and which need theirs no longer after it.

        The last operation, whose result is stored, needs none.
        """
        once = self._once
        last: dict[int, int] = {}
        for place, operation in enumerate(self.nest.operations):
            last.update(dict.fromkeys(_read(operation), place))
        every = range(len(self.nest.operations) - 1)
        first = [place for place in every if self.nest.operations[place].reduced]
        yield first, []
        for place in self._sequence:
            ended = [each for each in _read(self.nest.operations[place]) if last[each] == place]
            kept = [each for each in ended if each in once and place not in once]
            kept += [each for each in ended if place in self._in_strips and each not in self._in_strips]
            needed = [] if place in first else [place]
            yield needed, [each for each in ended if each not in kept]

    def placed(self, begin: int) -> tuple[dict[int, int], int]:
        """Addresses from `begin` on by operation, as low as possible, and the end of all."""
        places: dict[int, int] = {}
        free: list[tuple[int, int]] = []
        end, spare = begin, [(0, self.spare)] if self.spare else []
        for needed, ended in self.turns():
            for place in needed:
                if place in self.reusing:
                    free, spare = [*free, *spare], []
                size = self.size(place)
                fitting = [each for each in free if each[1] >= size]
                if fitting:
                    start, room = min(fitting, key=lambda each: each[1])
                    free.remove((start, room))
                    places[place] = start
                    if room > size:
                        free.append((start + size, room - size))
                else:
                    places[place], end = end, end + size
            free += [(places[each], self.size(each)) for each in ended]
        return places, end


def _read(operation: Operation) -> list[int]:
    """The operations whose results one reads."""
    results = (source.operation for source in operation.sources if isinstance(source, Result))
    return list(dict.fromkeys(results))
