"""Profiles for speedscope: https://www.speedscope.app/file-format-schema.json."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rackwright.profiling.observed import Function, Hart, Profile


def speedscope(profile: Profile) -> dict[str, Any]:
    """The stacks of each hart, weighted by cycles."""
    threads = len(profile.threads)
    frames = [{"name": thread.title} for thread in profile.threads]
    frames += [_frame(function) for function in profile.functions]
    return {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": "rackwright",
        "name": profile.command,
        "shared": {"frames": frames},
        "profiles": [_hart(hart, threads) for hart in profile.harts],
    }


def _frame(function: Function) -> dict[str, Any]:
    if function.line:
        return {"name": function.title, "file": function.file, "line": function.line}
    return {"name": function.title, "file": function.module}


def _hart(hart: Hart, threads: int) -> dict[str, Any]:
    """Its stacks as a tree: a node opens, its own cycles pass, then those of its children; it closes."""
    tree = hart.tree
    events = []
    now = 0
    # A negative node is one that closes.
    waiting = list(reversed(tree.children[0]))
    while waiting:
        node = waiting.pop()
        closes, node = node < 0, abs(node)
        if not closes and not tree.inclusive[node]:
            continue
        frame = tree.labels[node] + (0 if tree.parents[node] == 0 else threads)
        events.append({"type": "C" if closes else "O", "frame": frame, "at": now})
        if not closes:
            now += tree.cycles[node]
            waiting.append(-node)
            waiting += reversed(tree.children[node])
    return {
        "type": "evented",
        "name": f"hart {hart.hart}",
        "unit": "none",
        "startValue": 0,
        "endValue": now,
        "events": events,
    }
