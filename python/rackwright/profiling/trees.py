"""Call stacks as a tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Tree:
    """Node 0 stands for the hart, its children are threads, and the nodes below functions.

    `labels` are numbers of threads or functions; `cycles` and `instructions` are a node's own. Parents come
    before their children.
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

    def paths(self) -> Iterator[tuple[int, list[int]]]:
        """Each node with the labels from its thread down to it; callers first."""
        paths: list[list[int]] = [[]]
        yield 0, []
        for node in range(1, len(self.parents)):
            paths.append([*paths[self.parents[node]], self.labels[node]])
            yield node, paths[node]

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
