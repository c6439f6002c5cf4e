"""Addresses in the scratchpad by banks, each of which can be read by one operand at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rackwright.drx.nest import Access, Nest, Result
from rackwright.drx.temporaries import Temporaries

Range = tuple[int, int]
"""The first byte and the one after the last."""


@dataclass
class Banks:
    """Assigns temporaries to banks from which no operand is read together with them, if there is room.

    `buffers` are the ranges of inputs, `begin` is after them and the result, `end` after the scratchpad.
    """

    nest: Nest
    begin: int
    end: int
    bank_bytes: int
    buffers: Mapping[Access, Sequence[Range]]
    taken: dict[int, Range] = field(default_factory=dict)

    def places(self, temporaries: Temporaries) -> dict[int, int] | None:
        """First bytes by operation; None if there is no room in this way.

        If there is none for all, operations after all reductions, which are computed less often, take any.
        """
        return self._places(temporaries, frozenset()) or self._places(temporaries, self.nest.late)

    def _places(self, temporaries: Temporaries, anywhere: frozenset[int]) -> dict[int, int] | None:
        """The same, with operations that are placed as low as possible."""
        found: dict[int, int] = {}
        self.taken.clear()
        for places, ended in temporaries.turns():
            for place in places:
                spare = temporaries.spare if place in temporaries.reusing else 0
                own = self._best(place, temporaries.size(place), spare, lowest=place in anywhere)
                if own is None:
                    return None
                found[place] = own[0]
                self.taken[place] = own
            for place in ended:
                del self.taken[place]
        return found

    def _best(self, place: int, size: int, spare: int, *, lowest: bool) -> Range | None:
        """The best place of a result, which may be in the first `spare` bytes."""
        partners = [each for group in self._groups(place) for each in group]
        boundaries = range(0, self.end, self.bank_bytes)
        starts = {self.begin, *boundaries, *(last for _, last in self.taken.values())}
        every = [(start, start + size) for start in sorted(starts)]
        fitting = [each for each in every if self._is_free(*each, spare)]
        if lowest:
            return min(fitting, default=None)
        return min(fitting, key=lambda own: sum(self._meet(own, each) for each in partners), default=None)

    def _is_free(self, first: int, last: int, spare: int) -> bool:
        within = (self.begin <= first and last <= self.end) or last <= spare
        return within and all(last <= start or stop <= first for start, stop in self.taken.values())

    def _groups(self, place: int) -> Iterable[Sequence[Range]]:
        """Ranges that operations read together with the result of the one at `place`."""
        for number, operation in enumerate(self.nest.operations):
            reads = {source.operation for source in operation.sources if isinstance(source, Result)}
            if operation.reduced:
                reads.add(number)
            if place in reads:
                yield [self.taken[each] for each in reads if each in self.taken]
                for source in operation.sources:
                    if isinstance(source, Access):
                        yield self.buffers[source]

    def _meet(self, own: Range, other: Range) -> bool:
        """They have a bank in common."""
        first, last = (
            (each[0] // self.bank_bytes, (each[1] - 1) // self.bank_bytes) for each in (own, other)
        )
        return first[0] <= last[1] and last[0] <= first[1]
