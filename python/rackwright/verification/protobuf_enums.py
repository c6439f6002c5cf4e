"""What descriptor tables say of the values of closed enums: a map in the entry, or a set in memory.

`hardware/src/main/scala/rackwright/protobuf/README.md` has both layouts.
"""

from __future__ import annotations

import struct
from collections.abc import Collection

_MAPPED = 40
_BLOCK_BITS = 6


def mapped(values: Collection[int]) -> int | None:
    """Word 1 of the entry for values that lie so close that the entry can tell of them; else None."""
    least, most = min(values), max(values)
    if not -128 <= least <= 127 or most - least >= _MAPPED:
        return None
    return (least & 0xFF) << _MAPPED | sum(1 << value - least for value in set(values))


def place_of(block: int, places: int) -> int:
    """Where the search for a block of values begins."""
    return (block ^ block >> 7 ^ block >> 13) % places


def value_set(values: Collection[int]) -> tuple[int, bytes]:
    """log2 of the places of a set, and its lines: places first, then what found its place taken."""
    blocks: dict[int, int] = {}
    for value in values:
        number = value % (1 << 32)
        block, bit = number >> _BLOCK_BITS, number % (1 << _BLOCK_BITS)
        blocks[block] = blocks.get(block, 0) | 1 << bit
    log2_places = (len(blocks) - 1).bit_length()
    places = 1 << log2_places
    # Line by line its block and map, and the number of the line that goes on; where one is free, nothing.
    lines: list[list[int]] = [[0, 0, 0] for _ in range(places)]
    for block, bits in sorted(blocks.items()):
        at = place_of(block, places)
        if lines[at][1]:
            while lines[at][2]:
                at = lines[at][2]
            lines[at][2] = len(lines)
            at = len(lines)
            lines.append([0, 0, 0])
        lines[at][:2] = [block, bits]
    return log2_places, b"".join(struct.pack("<QQ", bits, link << 32 | block) for block, bits, link in lines)
