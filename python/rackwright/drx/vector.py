"""An operation over a tile, as loops around one vector instruction."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rackwright.drx.isa import isa

LANE_BYTES = 4
"""Bytes of a lane, which computes as many smaller integers at once."""

PACKED = (1, 2)
"""Sizes in bytes of these integers."""

LATENCY = 12
"""Cycles from a chunk to the first one that reads its results."""


@dataclass(frozen=True)
class Place:
    """An operand in the scratchpad: its first byte, and the bytes to the next element along each axis."""

    address: int
    element: str
    bytes: int
    strides: tuple[int, ...]

    def along(self, axes: Iterable[int]) -> Place:
        """The same elements with these axes, in this order."""
        return Place(self.address, self.element, self.bytes, tuple(self.strides[axis] for axis in axes))


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
        together = _together(groups[place][-1], operands, lanes)
        return total // sizes[place] * math.ceil(sizes[place] / together)

    vector = min(reversed(range(len(groups))), key=cycles)
    others = (place for place in range(len(groups)) if place != vector)
    order = [*sorted(others, key=lambda each: groups[each][-1] not in reduced), vector]

    def seen(operand: Operand) -> Operand:
        if isinstance(operand, Constant):
            return operand
        return operand.along(groups[each][-1] for each in order)

    loops = tuple(sizes[each] for each in order[:-1])
    together = _together(groups[vector][-1], operands, lanes)
    rounds = math.prod(sizes[each] for each in order if groups[each][-1] in reduced)
    return VectorLoops(loops, sizes[vector], tuple(map(seen, operands)), together, rounds)


def _together(axis: int, operands: Sequence[Operand], lanes: int) -> int:
    """Elements along an axis that the unit computes at once."""
    destination, *sources = operands
    if not _is_contiguous(destination, axis):
        return 1
    for size in PACKED:
        if _fits(destination, axis, size) and all(_fits(source, axis, size) for source in sources):
            return lanes * LANE_BYTES // size
    places = [source for source in sources if isinstance(source, Place)]
    return min((read_together(place.strides[axis], place.bytes, lanes) for place in places), default=lanes)


def _is_contiguous(operand: Operand, axis: int) -> bool:
    return isinstance(operand, Place) and operand.strides[axis] == operand.bytes


def _fits(operand: Operand, axis: int, size: int) -> bool:
    """A lane computes several elements of `size` bytes from this operand."""
    if isinstance(operand, Constant):
        return fits_packed(operand.bits, size)
    whole = operand.element not in isa().floats and operand.bytes <= size
    return whole and operand.strides[axis] in (0, operand.bytes)


def fits_packed(number: int, size: int) -> bool:
    """A constant may be an operand of packed elements: it has a bit more than they, for the sign."""
    return -(1 << 8 * size) <= number < 1 << 8 * size


def read_together(stride: int, size: int, lanes: int) -> int:
    """Elements of an operand that are read together: for all lanes, as many as a line guarantees, or one."""
    table = isa()
    if stride == 0:
        return lanes
    if stride % size or stride // size not in table.strides or stride > table.stride_bytes:
        return 1
    whole: int = min((4 * lanes - size) // stride + 1, lanes)
    return 1 << (whole.bit_length() - 1)
