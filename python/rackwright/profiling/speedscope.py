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
    tree = hart.tree
    found = [(path, tree.cycles[node]) for node, path in tree.paths() if path and tree.cycles[node]]
    return {
        "type": "sampled",
        "name": f"hart {hart.hart}",
        "unit": "none",
        "startValue": 0,
        "endValue": sum(cycles for _, cycles in found),
        "samples": [[path[0], *(threads + function for function in path[1:])] for path, _ in found],
        "weights": [cycles for _, cycles in found],
    }
