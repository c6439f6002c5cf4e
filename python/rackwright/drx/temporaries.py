"""Places in the scratchpad for what operations give each other."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from rackwright.drx.nest import Nest, Operation, Result
from rackwright.drx.order import order_of


def lines(size: int, line: int) -> int:
    """Bytes of all lines that `size` bytes begin."""
    return math.ceil(size / line) * line


@dataclass(frozen=True)
class Temporaries:
    """Those of a tile of a nest, and how long each is needed.

    One is needed until the last operation that reads it. Those of what is taken together stay from the first
    part to the last, and are there from the beginning; those of what is computed once for several tiles stay
    as well, if each of these reads them.
    """

    nest: Nest
    tile: tuple[int, ...]
    line: int

    def size(self, place: int) -> int:
        """Bytes of all lines of the result of an operation."""
        operation = self.nest.operations[place]
        elements = math.prod(self.tile[axis] for axis in operation.axes)
        return lines(elements * operation.element.bytes, self.line)

    def turns(self) -> Iterator[tuple[list[int], list[int]]]:
        """Operations in their order: which need a place at a time, and which need theirs no longer after it.

        The last operation, whose result is stored, needs none.
        """
        once = order_of(self.nest, self.tile).once
        last: dict[int, int] = {}
        for place, operation in enumerate(self.nest.operations):
            last.update(dict.fromkeys(_read(operation), place))
        every = range(len(self.nest.operations) - 1)
        first = [place for place in every if self.nest.operations[place].reduced]
        yield first, []
        # What is computed once comes first.
        for place in sorted(every, key=lambda each: each not in once):
            ended = [each for each in _read(self.nest.operations[place]) if last[each] == place]
            kept = [each for each in ended if each in once and place not in once]
            needed = [] if place in first else [place]
            yield needed, [each for each in ended if each not in kept]

    def placed(self, begin: int) -> tuple[dict[int, int], int]:
        """Places from `begin` on by operation, as low as they can be, and the end of all."""
        places: dict[int, int] = {}
        free: list[tuple[int, int]] = []
        end = begin
        for needed, ended in self.turns():
            for place in needed:
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
