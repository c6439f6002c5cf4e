"""Whether a graph of services on tiles can deadlock: the verdict, with its reason and its cycle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rackwright.errors import RackwrightError
from rackwright.tiles.graph import PROGRAM, Graph
from rackwright.tiles.layout import Layout
from rackwright.tiles.mesh import Place
from rackwright.tiles.waiting import Ring, channel_cycle, stalled_ring


@dataclass(frozen=True)
class Verdict:
    """The verdict of the checker: `reason` and `witness` are empty if the graph is legal."""

    legal: bool
    reason: str
    witness: tuple[str, ...]
    tiles: tuple[dict[str, Any], ...]
    queues: tuple[dict[str, Any], ...]
    longest_route: dict[str, Any]

    def record(self) -> dict[str, Any]:
        """The format of docs/json.md."""
        return {
            "legal": self.legal,
            "reason": self.reason,
            "witness": list(self.witness),
            "tiles": list(self.tiles),
            "queues": list(self.queues),
            "longest_route": self.longest_route,
        }


def check(layout: Layout, graph: Graph | None = None) -> Verdict:
    """Checks the mesh for any traffic, and the graph on it.

    Raises `RackwrightError` for a service on no tile, or on one that cannot do its work.
    """
    graph = graph or Graph({}, {})
    for service in graph.services.values():
        _check_service(layout, service.name, service.by, service.tile)
    reason = ""
    witness: tuple[str, ...] = ()
    cycle, ring = channel_cycle(layout.mesh), stalled_ring(graph)
    if cycle is not None:
        reason = "classes of messages that share a network wait for each other"
        witness = tuple(map(str, cycle))
    elif ring is not None:
        reason = _explain(graph, ring)
        witness = tuple(ring.witness)
    return Verdict(
        not witness, reason, witness, _tiles(layout, graph), _queues(layout, graph), _longest(layout)
    )


def hops(start: Place, end: Place) -> int:
    """Links between routers on the route."""
    return abs(start.x - end.x) + abs(start.y - end.y)


def _check_service(layout: Layout, name: str, by: str, where: str) -> None:
    tile = layout.by_name.get(where)
    if tile is None:
        raise RackwrightError(f"service {name}: there is no tile {where}")
    if tile.is_hart and by != PROGRAM:
        raise RackwrightError(f"service {name}: tile {where} is a hart, which cannot be {by}")
    if not tile.is_hart and by != tile.holds:
        raise RackwrightError(f"service {name}: tile {where} is {tile.holds}, not {by}")


def _explain(graph: Graph, ring: Ring) -> str:
    places = sum(queue.elements + graph.services[queue.sender].holds for queue in ring.queues)
    circle = " → ".join([*ring.witness, ring.witness[0]])
    return f"{places} elements fill {circle}, and each waits for a place in the next"


def _tiles(layout: Layout, graph: Graph) -> tuple[dict[str, Any], ...]:
    rows = []
    for tile in sorted(layout.tiles, key=lambda tile: (tile.at.y, tile.at.x)):
        services = [service.name for service in graph.services.values() if service.tile == tile.name]
        rows.append({"tile": tile.name, "at": list(tile.at), "holds": tile.holds, "services": services})
    return tuple(rows)


def _queues(layout: Layout, graph: Graph) -> tuple[dict[str, Any], ...]:
    rows = []
    for queue in graph.queues.values():
        ends = [layout.by_name[graph.services[end].tile].at for end in (queue.sender, queue.receiver)]
        rows.append(
            {
                "queue": queue.name,
                "from": queue.sender,
                "to": queue.receiver,
                "elements": queue.elements,
                "element_bytes": queue.element_bytes,
                "full": "drop" if queue.drops else "wait",
                "hops": hops(*ends),
            }
        )
    return tuple(rows)


def _longest(layout: Layout) -> dict[str, Any]:
    """The first of the longest routes between tiles, in the order of their numbers."""
    at = {tile.at: tile.name for tile in layout.tiles}
    pairs = [(start, end) for start in at for end in at]
    start, end = max(pairs, key=lambda pair: hops(*pair))
    return {
        "from": at[start],
        "to": at[end],
        "places": [list(place) for place in layout.mesh.route(start, end)],
        "hops": hops(start, end),
        "cycles": hops(start, end) * layout.mesh.hop_cycles,
    }
