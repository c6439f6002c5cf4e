"""Addresses of intermediate results in the scratchpad."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from rackwright.drx.nest import Access, Nest, Operation, Result
from rackwright.drx.order import Phases, phases_of
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
    def _phases(self) -> Phases:
        return phases_of(self.nest, self.tile, self.strip)

    @cached_property
    def _sequence(self) -> tuple[int, ...]:
        """Operations but for the last in the order in which they are computed."""
        return self._phases.every[:-1]

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
        last: dict[int, int] = {}
        for place in self._phases.every:
            last.update(dict.fromkeys(_read(self.nest.operations[place]), place))
        first = [place for place in self._sequence if self.nest.operations[place].reduced]
        yield first, []
        for place in self._sequence:
            ended = [each for each in _read(self.nest.operations[place]) if last[each] == place]
            needed = [] if place in first else [place]
            yield needed, [each for each in ended if not self._persists(each, place)]

    def _persists(self, place: int, reader: int) -> bool:
        """The last operation that reads a result is computed again, and the result is not."""
        again = [self._phases.once]
        if self.strip < self.tile.extents[0]:
            again.append(self._phases.after)
        return any((place in phase) != (reader in phase) for phase in again)

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
