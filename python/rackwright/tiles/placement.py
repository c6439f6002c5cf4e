"""Placement of tiles: the arrangement with the least traffic on the links."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

from rackwright.tiles.check import check, hops
from rackwright.tiles.graph import Graph
from rackwright.tiles.layout import Layout
from rackwright.tiles.mesh import Place

ALL_ARRANGEMENTS = 7
"""Up to this number of positions, all arrangements are tried."""

STARTS = 20
"""The number of initial arrangements of a search if there are more."""


@dataclass(frozen=True)
class Placement:
    """An arrangement, and its traffic beside that of the one before, in bytes times links.

    Whether it is the `best` is known when all were tried.
    """

    layout: Layout
    before: float
    after: float
    best: bool

    def record(self) -> dict[str, Any]:
        """The format of docs/json.md."""
        tiles = [{"tile": tile.name, "at": list(tile.at)} for tile in self.layout.tiles]
        return {
            "tiles": tiles,
            "traffic_before": self.before,
            "traffic_after": self.after,
            "best": self.best,
        }


def place(layout: Layout, graph: Graph, seed: int = 1) -> Placement:
    """Moves the tiles that are not fixed, to any positions of the mesh, to minimise the graph's traffic.

    Up to `ALL_ARRANGEMENTS` places all arrangements are tried; with more, pairs change places as long as
    that helps, from `STARTS` arrangements by the seed. The same arguments give the same result. Raises
    `RackwrightError` as `check` does.
    """
    check(layout, graph)
    search = _Search(layout, graph)
    start = search.start
    if len(start) <= ALL_ARRANGEMENTS:
        found = min(permutations(start), key=search.traffic)
    else:
        shuffled = random.Random(seed)
        starts = [start] + [tuple(shuffled.sample(start, len(start))) for _ in range(STARTS - 1)]
        found = min(map(search.improve, starts), key=search.traffic)
    if search.traffic(found) == search.traffic(start):
        found = start
    moved = layout.moved(dict(zip(search.names, found, strict=False)))
    return Placement(moved, search.traffic(start), search.traffic(found), len(start) <= ALL_ARRANGEMENTS)


class _Search:
    """Arrangements: positions of the movable tiles, by `names`, then those that stay empty."""

    def __init__(self, layout: Layout, graph: Graph) -> None:
        movable = [tile for tile in layout.tiles if not tile.fixed]
        taken = {tile.at for tile in layout.tiles}
        self.names = [tile.name for tile in movable]
        empty = [place for place in layout.mesh.places() if place not in taken]
        self.start = tuple([tile.at for tile in movable] + empty)
        self._fixed = {tile.name: tile.at for tile in layout.tiles if tile.fixed}
        self._flows = _flows(graph)
        self._memory = layout.memory

    def traffic(self, arrangement: Sequence[Place]) -> float:
        """Bytes times links."""
        at = self._fixed | dict(zip(self.names, arrangement, strict=False))
        return sum(
            amount * hops(at[start], self._memory if end is None else at[end])
            for start, end, amount in self._flows
        )

    def improve(self, arrangement: tuple[Place, ...]) -> tuple[Place, ...]:
        """Changes pairs as long as that helps, the best one each time."""
        least = self.traffic(arrangement)
        while True:
            found = min(_exchanges(arrangement), key=self.traffic)
            if self.traffic(found) >= least:
                return arrangement
            arrangement, least = found, self.traffic(found)


def _exchanges(arrangement: tuple[Place, ...]) -> list[tuple[Place, ...]]:
    found = []
    for first, second in combinations(range(len(arrangement)), 2):
        other = list(arrangement)
        other[first], other[second] = other[second], other[first]
        found.append(tuple(other))
    return found


def _flows(graph: Graph) -> list[tuple[str, str | None, float]]:
    """Traffic between tiles, or to memory: elements of queues, and memory accesses of services."""
    flows: list[tuple[str, str | None, float]] = []
    for queue in graph.queues.values():
        sender, receiver = graph.services[queue.sender], graph.services[queue.receiver]
        flows.append((sender.tile, receiver.tile, queue.rate * queue.element_bytes))
        if receiver.memory_bytes:
            flows.append((receiver.tile, None, queue.rate * receiver.memory_bytes))
    return flows
