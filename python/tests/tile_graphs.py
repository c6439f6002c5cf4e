"""Random graphs of services, and every state that one can reach, by which the checker of tiles is judged."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from rackwright.errors import RackwrightError
from rackwright.tiles.graph import PROGRAM, Graph, Queue, Service

Item = TypeVar("Item")

Hand = tuple[tuple[str, tuple[str, ...]], ...]
"""What a service has in hand: whose it is, and the queues where it has to go."""

State = tuple[tuple[tuple[str, ...], ...], tuple[Hand, ...], tuple[int, ...]]
"""By queue, whose elements it holds; by service, its hand, and how many it has begun without an answer."""


def random_graph(random_numbers: random.Random) -> Graph:
    """Up to four services with up to five short queues, some with windows, some that drop."""
    while True:
        names = [f"s{number}" for number in range(random_numbers.randint(2, 4))]
        services = {name: _service(random_numbers, name) for name in names}
        queues = {
            f"q{number}": Queue(
                f"q{number}",
                *_ends(random_numbers, names, number),
                random_numbers.randint(1, 2),
                drops=random_numbers.random() < 0.1,
            )
            for number in range(random_numbers.randint(2, 5))
        }
        queues = {
            name: replace(queue, then=_then(random_numbers, queue, queues)) for name, queue in queues.items()
        }
        try:
            return Graph(services, queues)
        except RackwrightError:
            continue


def random_clients(random_numbers: random.Random) -> Graph:
    """One or two programs that ask the same chain of services, with windows about as large as it is."""
    chain = [f"s{number}" for number in range(random_numbers.randint(1, 2))]
    services = {name: replace(_service(random_numbers, name), window=None) for name in chain}
    queues: dict[str, Queue] = {}
    for client in [f"c{number}" for number in range(random_numbers.randint(1, 2))]:
        services[client] = replace(_service(random_numbers, client), window=random_numbers.randint(1, 8))
        passed = [client, *chain, client]
        names = [f"{client}-{number}" for number in range(len(passed) - 1)]
        for number, name in enumerate(names):
            ends = passed[number], passed[number + 1]
            then = tuple(names[number + 1 : number + 2])
            drops = random_numbers.random() < 0.05
            queues[name] = Queue(name, *ends, random_numbers.randint(1, 2), drops=drops, then=then)
    return Graph(services, queues)


def _service(random_numbers: random.Random, name: str) -> Service:
    window = random_numbers.randint(1, 9) if random_numbers.random() < 0.5 else None
    return Service(
        name,
        PROGRAM,
        name,
        window=window,
        polls=random_numbers.random() < 0.2,
        holds=random_numbers.randint(1, 2),
    )


def _ends(random_numbers: random.Random, names: list[str], number: int) -> tuple[str, str]:
    """Two services: most often one and the next, so that there are circles."""
    if random_numbers.random() < 0.3:
        first, second = random_numbers.sample(names, 2)
        return first, second
    return names[number % len(names)], names[(number + 1) % len(names)]


def _then(random_numbers: random.Random, queue: Queue, queues: dict[str, Queue]) -> tuple[str, ...]:
    """None, or one of the queues that the receiver fills."""
    following = [name for name, other in queues.items() if other.sender == queue.receiver]
    if not following or random_numbers.random() < 0.2:
        return ()
    return (random_numbers.choice(following),)


@dataclass
class Behaviour:
    """What a graph can do, step by step: one service begins, takes or gives one element."""

    graph: Graph

    def __post_init__(self) -> None:
        self.services = list(self.graph.services.values())
        self.queues = list(self.graph.queues.values())
        self._number = {queue.name: number for number, queue in enumerate(self.queues)}
        self._begun = {service.name: self.graph.begun(service.name) for service in self.services}
        self._place = {service.name: number for number, service in enumerate(self.services)}

    def stalls(self, most_states: int) -> bool | None:
        """Whether services can come to wait for each other in a circle; None with too many states."""
        start: State = (
            tuple(() for _ in self.queues),
            tuple(() for _ in self.services),
            tuple(0 for _ in self.services),
        )
        seen, rest = {start}, [start]
        while rest:
            state = rest.pop()
            if self._stands_still(state):
                return True
            for following in self._steps(state):
                if following not in seen:
                    seen.add(following)
                    rest.append(following)
            if len(seen) > most_states:
                return None
        return False

    def _is_full(self, state: State, name: str) -> bool:
        number = self._number[name]
        return len(state[0][number]) == self.queues[number].elements

    def _stands_still(self, state: State) -> bool:
        """Whether there is a circle of services with full hands whose oldest elements have no place."""
        waits_for: dict[str, str] = {}
        for service, hand in zip(self.services, state[1], strict=True):
            if len(hand) == service.holds:
                name = hand[0][1][0]
                if self._is_full(state, name) and not self.graph.queues[name].drops:
                    waits_for[service.name] = self.graph.queues[name].receiver
        for start in waits_for:
            here, passed = start, 0
            while here in waits_for and passed <= len(self.services):
                here, passed = waits_for[here], passed + 1
                if here == start:
                    return True
        return False

    def _steps(self, state: State) -> Iterator[State]:
        queues, hands, open_ = state
        for place, service in enumerate(self.services):
            hand = hands[place]
            free = len(hand) < service.holds
            may_begin = service.window is None or open_[place] < service.window
            for name in self._begun[service.name] if may_begin else ():
                more = _with(open_, place, open_[place] + (service.window is not None))
                if service.polls:
                    yield from self._put((queues, hands, more), service.name, name)
                elif free:
                    yield (queues, _with(hands, place, (*hand, (service.name, (name,)))), more)
            for number, queue in enumerate(self.queues):
                if queue.receiver == service.name and free and queues[number]:
                    owner, *others = queues[number]
                    taken = _with(queues, number, tuple(others))
                    if queue.then:
                        yield (taken, _with(hands, place, (*hand, (owner, queue.then))), open_)
                    else:
                        yield (taken, hands, self._ended(open_, owner))
            if hand:
                (owner, (name, *behind)), *later = hand
                left = ((owner, tuple(behind)), *later) if behind else tuple(later)
                yield from self._put((queues, _with(hands, place, left), open_), owner, name)

    def _put(self, state: State, owner: str, name: str) -> Iterator[State]:
        queues, hands, open_ = state
        number = self._number[name]
        if not self._is_full(state, name):
            yield (_with(queues, number, (*queues[number], owner)), hands, open_)
        elif self.queues[number].drops:
            yield (queues, hands, self._ended(open_, owner))

    def _ended(self, open_: tuple[int, ...], owner: str) -> tuple[int, ...]:
        place = self._place[owner]
        return _with(open_, place, open_[place] - (self.services[place].window is not None))


def _with(items: tuple[Item, ...], number: int, item: Item) -> tuple[Item, ...]:
    return (*items[:number], item, *items[number + 1 :])
