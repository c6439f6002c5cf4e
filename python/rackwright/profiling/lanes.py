"""Events of a hart besides calls, for time lines: threads, interrupts, system calls, work of units."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rackwright.profiling.observed import Hart, Profile, Turn

KINDS = ("interrupts", "system calls", "exceptions")


@dataclass(frozen=True)
class Lane:
    """One kind of events: the label, the first cycle, and the first one after it of each, in order.

    If two events in one lane overlap, one is nested in the other.
    """

    title: str
    events: list[tuple[str, int, int]]


def lanes(profile: Profile, hart: Hart) -> Iterator[Lane]:
    """The non-empty lanes of a hart."""
    threads = [(profile.threads[turn.thread].title, turn.begin, turn.end) for turn in hart.turns]
    found = [Lane("threads", threads)]
    found += [Lane(kind, _pieces(hart, kind)) for kind in KINDS]
    found += [Lane(unit.unit, [(unit.unit, begin, end) for begin, end in unit.work]) for unit in hart.units]
    return (lane for lane in found if lane.events)


def _pieces(hart: Hart, kind: str) -> list[tuple[str, int, int]]:
    """Traps of one kind while the hart runs their threads: others may run during a blocking system call."""
    turns: dict[int, list[Turn]] = defaultdict(list)
    for turn in hart.turns:
        turns[turn.thread].append(turn)
    pieces = []
    for trap in hart.traps:
        if trap.kind != kind:
            continue
        own = turns[trap.thread]
        for turn in own[bisect_right(own, trap.begin, key=lambda turn: turn.end) :]:
            if turn.begin >= trap.end:
                break
            pieces.append((trap.title, max(turn.begin, trap.begin), min(turn.end, trap.end)))
    return sorted(pieces, key=lambda piece: (piece[1], -piece[2]))
