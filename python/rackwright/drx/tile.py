"""Parts of a nest that are loaded, computed and stored at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Tile:
    """`extents` are loaded and computed at a time, `stored` of the result are stored at a time.

    These are the same, or several times as many along one axis: few elements that are loaded at a time are
    then still stored in long rows. `room` are the extents over which all operations but the last one are
    computed.
    """

    extents: tuple[int, ...]
    stored: tuple[int, ...]
    room: tuple[int, ...]

    @property
    def parts(self) -> int:
        """Tiles that are stored together."""
        return math.prod(self.stored) // math.prod(self.extents)

    @property
    def across(self) -> int:
        """The axis along which they follow one another."""
        pairs = enumerate(zip(self.extents, self.stored, strict=True))
        return next((axis for axis, (part, whole) in pairs if part != whole), 0)

    def part(self, number: int) -> int:
        """The index at which a tile begins along that axis, by its number among those stored together."""
        return number * self.extents[self.across]
