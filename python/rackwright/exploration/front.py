"""Pareto fronts."""

from __future__ import annotations

from collections.abc import Sequence


def front(pairs: Sequence[tuple[float, float]]) -> list[bool]:
    """For each (cost, gain) whether no other pair is as good in both and better in one."""
    order = sorted(range(len(pairs)), key=lambda place: (pairs[place][0], -pairs[place][1]))
    marks = [False] * len(pairs)
    best, cost_of_best = float("-inf"), float("nan")
    for place in order:
        cost, gain = pairs[place]
        if gain > best or (gain == best and cost == cost_of_best):
            marks[place] = True
            best, cost_of_best = gain, cost
    return marks
