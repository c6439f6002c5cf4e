"""Stacks as lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rackwright.profiling.trees import SMALLER

if TYPE_CHECKING:
    from rackwright.profiling.observed import Profile


def folded(profile: Profile) -> str:
    """One line for each stack: hart, thread and functions, then its own cycles.

    They add up to the cycles of the run. Their maximum number: `Tree.listed`.
    """
    lines = []
    for hart in profile.harts:
        tree, name = hart.tree, f"hart {hart.hart}"
        if tree.cycles[0]:
            lines.append(f"{name} {tree.cycles[0]}\n")
        listed = tree.listed
        for node in listed.nodes:
            if tree.cycles[node]:
                titles = [title.replace(";", ":") for title in profile.titles(tree.path(node))]
                lines.append(f"{';'.join([name, *titles])} {tree.cycles[node]}\n")
        if listed.cycles:
            lines.append(f"{name};{SMALLER} {listed.cycles}\n")
    return "".join(lines)
