"""An operation over a tile, as loops around one vector instruction."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rackwright.drx.isa import isa

LATENCY = 12
"""Cycles from a chunk to the first one that reads its results."""


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

    value: int | float

    @property
    def bits(self) -> int:
        """The number in the unit's format, in 32 bits."""
        if isinstance(self.value, float):
            return int.from_bytes(struct.pack("<f", self.value), "little", signed=True)
        return self.value


Operand = Place | Constant


@dataclass(frozen=True)
class VectorLoops:
    """Loops, the outermost first, around a vector of `length` elements.

    `operands` have a stride for each loop, and at the end the one of the vector.
    """

    loops: tuple[int, ...]
    length: int
    operands: tuple[Operand, ...]
    together: int
    rounds: int = 1

    @property
    def cycles(self) -> int:
        """One for each chunk of `together` elements; each of the `rounds` reads the results of the last."""
        chunks = math.prod(self.loops) * math.ceil(self.length / self.together)
        return chunks if self.rounds == 1 else self.rounds * max(chunks // self.rounds, LATENCY)


def vector_loops(
    extents: Sequence[int], operands: Sequence[Operand], lanes: int, reduced: Sequence[int] = ()
) -> VectorLoops:
    """The loops of an operation with these extents: few, and around long vectors.

    The axis of the vector is the one that takes the fewest cycles. Loops along axes that are `reduced` are
    around the others, so that a result is not waited for before others have been computed.
    """
    places = [operand for operand in operands if isinstance(operand, Place)]
    groups: list[list[int]] = []
    for axis, extent in enumerate(extents):
        if extent == 1:
            continue
        alike = groups and (groups[-1][-1] in reduced) == (axis in reduced)
        if alike and all(place.strides[groups[-1][-1]] == place.strides[axis] * extent for place in places):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    groups = groups or [[len(extents) - 1]]
    sizes = [math.prod(extents[axis] for axis in group) for group in groups]
    total = math.prod(sizes)

    def cycles(place: int) -> int:
        together = _together(groups[place][-1], places, lanes)
        return total // sizes[place] * math.ceil(sizes[place] / together)

    vector = min(reversed(range(len(groups))), key=cycles)
    others = (place for place in range(len(groups)) if place != vector)
    order = [*sorted(others, key=lambda each: groups[each][-1] not in reduced), vector]

    def seen(operand: Operand) -> Operand:
        if isinstance(operand, Constant):
            return operand
        return replace(operand, strides=tuple(operand.strides[groups[each][-1]] for each in order))

    loops = tuple(sizes[each] for each in order[:-1])
    together = _together(groups[vector][-1], places, lanes)
    rounds = math.prod(sizes[each] for each in order if groups[each][-1] in reduced)
    return VectorLoops(loops, sizes[vector], tuple(map(seen, operands)), together, rounds)


def _together(axis: int, places: Sequence[Place], lanes: int) -> int:
    """Elements along an axis that the unit computes at once."""
    destination, *sources = places
    if destination.strides[axis] != destination.bytes:
        return 1
    return min((read_together(place.strides[axis], place.bytes, lanes) for place in sources), default=lanes)


def read_together(stride: int, size: int, lanes: int) -> int:
    """Elements of an operand that are read together: for all lanes, as many as a line guarantees, or one."""
    table = isa()
    if stride == 0:
        return lanes
    if stride % size or stride // size not in table.strides or stride > table.stride_bytes:
        return 1
    whole: int = min((4 * lanes - size) // stride + 1, lanes)
    return 1 << (whole.bit_length() - 1)
