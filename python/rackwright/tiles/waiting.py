"""Dependencies: the graph of channels, services and queues that wait for each other, and its cycles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import combinations

from rackwright.tiles.graph import Graph, Queue
from rackwright.tiles.mesh import Channel, Mesh

WITHOUT_END = 1 << 62
"""More elements than all queues hold."""


def channel_cycle(mesh: Mesh) -> list[Channel] | None:
    """Channels that each wait for the next, and the last one for the first; None if there are none.

    This holds for any traffic: packets of any tile to any other may be in flight at the same time. Queues do
    not occur here, since their elements lie in memory: a message for them ends at the home of its line, and
    never waits for a place in a queue.
    """
    waits: dict[Channel, set[Channel]] = {}
    for holder, wanted in mesh.dependencies():
        waits.setdefault(holder, set()).add(wanted)
    try:
        TopologicalSorter(waits).prepare()
    except CycleError as error:
        found: list[Channel] = error.args[1]
        return found[:0:-1]
    return None


@dataclass(frozen=True)
class Ring:
    """Queues in a circle: each has as its sender the receiver of the one before."""

    queues: tuple[Queue, ...]

    @property
    def witness(self) -> list[str]:
        """Services and queues by their names, alternating, starting with a service."""
        return [name for queue in self.queues for name in (queue.sender, queue.name)]


def stalled_ring(graph: Graph) -> Ring | None:
    """A circle whose queues can all be full while each service waits for a place in the next; None without.

    A service waits if it processes its maximum number of elements, and the oldest has to enter a full queue.
    Elements enter a cycle from services that create some, within their windows; if windows do not allow as
    many elements as the cycle has places, it cannot deadlock. The smallest cycle is reported.
    """
    supplies = _Supplies(graph)
    rings = (ring for ring in _rings(graph) if supplies.fill(ring))
    return min(rings, key=lambda ring: (len(ring.queues), ring.witness), default=None)


def _rings(graph: Graph) -> Iterator[Ring]:
    """Circles of services, each once, by queues whose sender waits while they are full."""
    outgoing: dict[str, list[Queue]] = {}
    for queue in graph.queues.values():
        if _may_hold_up(graph, queue):
            outgoing.setdefault(queue.sender, []).append(queue)
    order = {name: number for number, name in enumerate(graph.services)}

    def extend(start: str, passed: tuple[Queue, ...], met: frozenset[str]) -> Iterator[Ring]:
        here = passed[-1].receiver if passed else start
        for queue in outgoing.get(here, ()):
            if queue.receiver == start:
                yield Ring((*passed, queue))
            elif queue.receiver not in met and order[queue.receiver] > order[start]:
                yield from extend(start, (*passed, queue), met | {queue.receiver})

    for name in graph.services:
        yield from extend(name, (), frozenset())


def _may_hold_up(graph: Graph, queue: Queue) -> bool:
    """Whether the sender accepts nothing while the queue is full."""
    return not queue.drops and (queue.name in graph.caused or not graph.services[queue.sender].polls)


class _Supplies:
    """The possible numbers of elements: those of each service, by the queues that they reach."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._amounts: dict[str, int] = {}
        self._reaching: dict[str, set[str]] = {name: set() for name in graph.queues}
        for service in graph.services.values():
            begun = graph.begun(service.name)
            for queue in begun:
                for name in graph.reached(queue):
                    self._reaching[name].add(service.name)
            if begun:
                self._amounts[service.name] = (
                    WITHOUT_END if service.window is None else service.window * max(map(self._alive, begun))
                )

    def _alive(self, queue: str) -> int:
        """The number of elements that one element of a queue can become: several if paths branch."""
        return max(1, sum(self._alive(name) for name in self._graph.queues[queue].then))

    def fill(self, ring: Ring) -> bool:
        """Whether there can be as many elements as the ring has places, each in a possible place.

        Hall's theorem: each set of places needs as many elements as can be in any of them.
        """
        wanted: dict[frozenset[str], int] = {}
        for queue in ring.queues:
            service = self._graph.services[queue.sender]
            there = frozenset(self._reaching[queue.name])
            # The queue, and the oldest processed element, which waits for it.
            wanted[there] = wanted.get(there, 0) + queue.elements + 1
            if service.holds > 1:
                any_hand = frozenset(self._in_hand(service.name))
                wanted[any_hand] = wanted.get(any_hand, 0) + service.holds - 1
        return all(
            sum(wanted[each] for each in some) <= self._amount(frozenset().union(*some))
            for count in range(1, len(wanted) + 1)
            for some in combinations(wanted, count)
        )

    def _in_hand(self, service: str) -> Iterable[str]:
        """The queues whose elements the service may process."""
        given = (queue.name for queue in self._graph.queues.values() if queue.sender == service)
        return {source for name in given for source in self._reaching[name]}

    def _amount(self, services: Iterable[str]) -> int:
        return sum(self._amounts[service] for service in services)
