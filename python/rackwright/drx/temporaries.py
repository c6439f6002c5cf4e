"""Places in the scratchpad for what operations give each other."""

from __future__ import annotations

import math
from collections.abc import Iterable

from rackwright.drx.nest import Nest, Operation, Result


def lines(size: int, line: int) -> int:
    """Bytes of all lines that `size` bytes begin."""
    return math.ceil(size / line) * line


def temporaries(nest: Nest, tile: tuple[int, ...], line: int, begin: int) -> tuple[dict[int, int], int]:
    """Places from `begin` on by operation, and the end of all.

    A place is used again after the last operation that reads it. Those of what is taken together stay
    from the first part to the last, and are there from the beginning.
    """
    last: dict[int, int] = {}
    for place, operation in enumerate(nest.operations):
        last.update({source.operation: place for source in operation.sources if isinstance(source, Result)})
    places: dict[int, int] = {}
    free: list[tuple[int, int]] = []
    end = begin

    def size(place: int) -> int:
        operation = nest.operations[place]
        return lines(math.prod(tile[axis] for axis in operation.axes) * operation.element.bytes, line)

    for place in _first(nest):
        places[place], end = end, end + size(place)
    for place, operation in enumerate(nest.operations[:-1]):
        if place not in places:
            fitting = [each for each in free if each[1] >= size(place)]
            if fitting:
                begin, room = min(fitting, key=lambda each: each[1])
                free.remove((begin, room))
                places[place] = begin
                if room > size(place):
                    free.append((begin + size(place), room - size(place)))
            else:
                places[place], end = end, end + size(place)
        free += [(places[each], size(each)) for each in _ended(operation, last, place)]
    return places, end


def _first(nest: Nest) -> list[int]:
    return [place for place, operation in enumerate(nest.operations[:-1]) if operation.reduced]


def _ended(operation: Operation, last: dict[int, int], place: int) -> Iterable[int]:
    """Results that nobody reads after the operation at `place`."""
    read = dict.fromkeys(source.operation for source in operation.sources if isinstance(source, Result))
    return [each for each in read if last[each] == place]
