"""Pieces of corpora, found by the ratio to which they compress."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Sequence
from functools import cached_property
from random import Random

from rackwright.formats import Format

CHUNK_BYTES = 4096

_NEIGHBOURS = 96
"""Chunks of about the requested ratio, from which one is drawn."""

_RECENT = 32
"""Chunks that are not drawn again at once: a copy of one within a block would be one long match."""

_ATTEMPTS = 4

_MOST_CHUNKS = 6000


class ChunkTable:
    """The chunks of corpora, ordered by the ratio that a format reaches with each alone."""

    def __init__(self, files: Sequence[tuple[str, bytes]], format_: Format) -> None:
        pieces = [data[at : at + CHUNK_BYTES] for _, data in files for at in range(0, len(data), CHUNK_BYTES)]
        stride = -(-len(pieces) // _MOST_CHUNKS)
        pieces = [piece for piece in pieces[::stride] if len(piece) == CHUNK_BYTES] or pieces
        rated = [
            (len(piece) / len(format_.compress(piece, None, None)), index)
            for index, piece in enumerate(pieces)
        ]
        rated.sort()
        self._recent: deque[int] = deque(maxlen=_RECENT)
        self._ratios = [ratio for ratio, _ in rated]
        self._chunks = [pieces[index] for _, index in rated]

    @cached_property
    def reach(self) -> tuple[float, float]:
        """The lowest and the highest ratio of a chunk."""
        return self._ratios[0], self._ratios[-1]

    def draw(self, ratio: float, random: Random) -> bytes:
        """A chunk whose ratio is about `ratio`."""
        place = bisect_left(self._ratios, ratio)
        low = max(0, min(place - _NEIGHBOURS // 2, len(self._chunks) - _NEIGHBOURS))
        high = min(len(self._chunks), low + _NEIGHBOURS)
        for _ in range(_ATTEMPTS):
            chosen = low + int(random.random() * (high - low))
            if chosen not in self._recent:
                break
        self._recent.append(chosen)
        return self._chunks[chosen]

    def begin(self) -> None:
        """Forgets earlier draws, so that a file does not depend on those before it."""
        self._recent.clear()
