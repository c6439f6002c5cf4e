"""An operation over a tile, as loops around one vector instruction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Place:
    """An operand in the scratchpad: its first byte, and the bytes to the next element along each axis."""

    address: int
    element: str
    bytes: int
    strides: tuple[int, ...]


@dataclass(frozen=True)
class Constant:
    """An operand that is the same number everywhere."""

    value: int


Operand = Place | Constant


@dataclass(frozen=True)
class VectorLoops:
    """Loops, the outermost first, around a vector of `length` elements.

    `operands` have a stride for each loop, and at the end the one of the vector.
    """

    loops: tuple[int, ...]
    length: int
    operands: tuple[Operand, ...]


def vector_loops(extents: Sequence[int], operands: Sequence[Operand]) -> VectorLoops:
    """The loops of an operation over so many elements along each axis: few, and around long vectors.

    The axis of the vector is one along which all operands are packed, or repeated, if there is such; else the
    last.
    """
    places = [operand for operand in operands if isinstance(operand, Place)]
    groups: list[list[int]] = []
    for axis, extent in enumerate(extents):
        if extent == 1:
            continue
        if groups and all(place.strides[groups[-1][-1]] == place.strides[axis] * extent for place in places):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    groups = groups or [[len(extents) - 1]]
    sizes = [math.prod(extents[axis] for axis in group) for group in groups]
    packed = [place for place, group in enumerate(groups) if _packed(group[-1], places)]
    vector = max(packed, key=lambda each: sizes[each], default=len(groups) - 1)
    order = [*(place for place in range(len(groups)) if place != vector), vector]

    def seen(operand: Operand) -> Operand:
        if isinstance(operand, Constant):
            return operand
        return replace(operand, strides=tuple(operand.strides[groups[each][-1]] for each in order))

    return VectorLoops(tuple(sizes[each] for each in order[:-1]), sizes[vector], tuple(map(seen, operands)))


def _packed(axis: int, places: Sequence[Place]) -> bool:
    destination, *sources = places
    return destination.strides[axis] == destination.bytes and all(
        place.strides[axis] in (0, place.bytes) for place in sources
    )
