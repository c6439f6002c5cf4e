"""Stacks as lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rackwright.profiling.observed import Profile

STACKS = "stacks.folded"


def folded(profile: Profile) -> str:
    """One line for each stack: hart, thread and functions, then its own cycles.

    They add up to the cycles of the run.
    """
    lines = []
    for hart in profile.harts:
        tree = hart.tree
        # The whole text of each node, from its parent's.
        texts = [f"hart {hart.hart}"]
        for node in range(1, len(tree.parents)):
            label = tree.labels[node]
            title = (
                profile.threads[label].title if tree.parents[node] == 0 else profile.functions[label].title
            )
            texts.append(f"{texts[tree.parents[node]]};{title.replace(';', ':')}")
        lines += [f"{text} {cycles}\n" for text, cycles in zip(texts, tree.cycles, strict=True) if cycles]
    return "".join(lines)
