"""Call stacks as a tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

STACKS = "stacks.folded"
"""The file with all stacks as text."""

MOST_FRAMES = 4_000_000
"""Frames of all stacks of a hart in a file that names all frames of each stack: some 100 MB of text."""

SMALLER = "(smaller ones)"
"""The label of stacks that are not named."""


@dataclass(frozen=True)
class Listed:
    """The nodes with cycles or instructions of their own, in order.

    If their stacks have more than `MOST_FRAMES` frames, those with the most cycles are listed, and `cycles`
    and `instructions` are the sums of the others.
    """

    nodes: list[int]
    cycles: int
    instructions: int

    @property
    def is_shortened(self) -> bool:
        """Whether there are others."""
        return self.cycles > 0 or self.instructions > 0


@dataclass(frozen=True)
class Tree:
    """Node 0 represents the hart, its children are threads, and the nodes below are functions.

    `labels` are numbers of threads or functions; `cycles` and `instructions` are a node's own. Parents
    precede their children.
    """

    parents: list[int]
    labels: list[int]
    cycles: list[int]
    instructions: list[int]
    calls: list[int]

    @staticmethod
    def of(nodes: list[list[int]]) -> Tree:
        """From the engine's nodes."""
        parents, labels, cycles, instructions, calls = map(list, zip(*nodes, strict=True))
        return Tree(parents, labels, cycles, instructions, calls)

    @cached_property
    def inclusive(self) -> list[int]:
        """Cycles of each node and of all below it."""
        total = list(self.cycles)
        for node in range(len(total) - 1, 0, -1):
            total[self.parents[node]] += total[node]
        return total

    @cached_property
    def children(self) -> list[list[int]]:
        """The nodes below each node."""
        below: list[list[int]] = [[] for _ in self.parents]
        for node in range(1, len(self.parents)):
            below[self.parents[node]].append(node)
        return below

    def frames(self) -> Iterator[int]:
        """The nodes of functions."""
        return (node for node in range(1, len(self.parents)) if self.parents[node] != 0)

    @cached_property
    def depths(self) -> list[int]:
        """The number of labels on the path of each node."""
        depths = [0]
        for node in range(1, len(self.parents)):
            depths.append(depths[self.parents[node]] + 1)
        return depths

    def path(self, node: int) -> list[int]:
        """The labels from the thread of a node down to it; callers first."""
        labels = []
        while node:
            labels.append(self.labels[node])
            node = self.parents[node]
        return labels[::-1]

    @cached_property
    def listed(self) -> Listed:
        """The stacks of functions for formats that name all frames of each of them."""
        own = [node for node in range(1, len(self.parents)) if self.cycles[node] or self.instructions[node]]
        left = MOST_FRAMES
        if sum(self.depths[node] for node in own) <= left:
            return Listed(own, 0, 0)
        kept: list[int] = []
        others: list[int] = []
        for node in sorted(own, key=lambda node: (-self.cycles[node], node)):
            left -= self.depths[node]
            (kept if left >= 0 else others).append(node)
        return Listed(
            sorted(kept),
            sum(self.cycles[node] for node in others),
            sum(self.instructions[node] for node in others),
        )

    def outermost(self) -> Iterator[int]:
        """The nodes of functions that are not above themselves in the stack."""
        active: set[int] = set()
        for thread in self.children[0]:
            waiting = [(child, True) for child in self.children[thread]]
            while waiting:
                node, entering = waiting.pop()
                label = self.labels[node]
                if not entering:
                    active.discard(label)
                    continue
                if label not in active:
                    active.add(label)
                    yield node
                    waiting.append((node, False))
                waiting += ((child, True) for child in self.children[node])
