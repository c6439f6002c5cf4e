"""The table of functions."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rackwright.profiling.observed import Profile

_PERCENTILES = {"minimum": 0.0, "p50": 0.5, "p90": 0.9, "p99": 0.99}


def rows(profile: Profile) -> list[dict[str, Any]]:
    """A row for each function that was called or has cycles; see `Profile.calls`."""
    count: Counter[int] = Counter()
    inclusive: Counter[int] = Counter()
    exclusive: Counter[int] = Counter()
    instructions: Counter[int] = Counter()
    for hart in profile.harts:
        tree = hart.tree
        for node in tree.frames():
            label = tree.labels[node]
            count[label] += tree.calls[node]
            exclusive[label] += tree.cycles[node]
            instructions[label] += tree.instructions[node]
        for node in tree.outermost():
            inclusive[tree.labels[node]] += tree.inclusive[node]
    return [
        {
            "module": function.module,
            "function": function.name,
            "symbol": function.symbol,
            "count": count[label],
            "inclusive_cycles": inclusive[label],
            "exclusive_cycles": exclusive[label],
            "instructions": instructions[label],
            **_durations(function.durations, function.slowest),
            "file": function.file,
            "line": function.line,
            **dict(zip(profile.stalls, function.stalls, strict=True)),
        }
        for label, function in enumerate(profile.functions)
        if label in exclusive
    ]


def _durations(steps: list[tuple[int, int]], slowest: list[tuple[int, int]]) -> dict[str, int]:
    """Percentiles of sorted steps; the longest call is known exactly."""
    total = sum(calls for _, calls in steps)
    found = {name: _percentile(steps, share * total) for name, share in _PERCENTILES.items()}
    return {**found, "maximum": slowest[0][0] if slowest else 0}


def _percentile(steps: list[tuple[int, int]], rank: float) -> int:
    """The smallest duration that is not exceeded by at least `rank` of the calls."""
    passed = 0
    for cycles, calls in steps:
        passed += calls
        if passed >= rank:
            return cycles
    return 0
