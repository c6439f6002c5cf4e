"""A graph of services and queues, each service executed by a unit or by a program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from rackwright.errors import RackwrightError
from rackwright.files.document import DocumentReader, load_yaml

PROGRAM = "program"
"""The value of `by` for a service without a unit."""

ELEMENT_BYTES = range(8, 65, 8)
"""Sizes of an element."""

LONGEST = 1 << 20
"""Most elements of a queue."""

_SERVICE_FIELDS = ("by", "tile", "window", "polls", "holds", "memory_bytes")
_QUEUE_FIELDS = ("from", "to", "elements", "element_bytes", "full", "then", "rate")


@dataclass(frozen=True)
class Service:
    """A service on a tile that receives and sends elements through queues, executed by a unit or a program.

    It processes at most `holds` elements at a time, and sends the outputs of the oldest before it continues.
    A service without an incoming queue creates elements, and so does one with a `window`: at most that number
    are outstanding, until their responses arrive. A service that `polls` continues to receive while a queue
    has no room for the elements that it creates. `memory_bytes` are the bytes that it reads and writes in
    memory per element.
    """

    name: str
    by: str
    tile: str
    window: int | None = None
    polls: bool = False
    holds: int = 1
    memory_bytes: int = 0


@dataclass(frozen=True)
class Queue:
    """A queue in memory from one service to another.

    `then` are the queues to which the receiver sends one element for each element received from this queue.
    The sender waits for a full queue, or `drops` elements without room. `rate` is the relative rate of
    elements compared with other queues.
    """

    name: str
    sender: str
    receiver: str
    elements: int
    element_bytes: int = 8
    drops: bool = False
    then: tuple[str, ...] = ()
    rate: float = 1.0


@dataclass(frozen=True)
class Graph:
    """Services and queues.

    Raises `RackwrightError` for a queue without an end, and for a window whose responses do not return.
    """

    services: Mapping[str, Service]
    queues: Mapping[str, Queue]

    def __post_init__(self) -> None:
        for queue in self.queues.values():
            for end in (queue.sender, queue.receiver):
                if end not in self.services:
                    raise RackwrightError(f"queue {queue.name}: there is no service {end}")
            for name in queue.then:
                if name not in self.queues:
                    raise RackwrightError(f"queue {queue.name}: then names {name}, which is no queue")
                if self.queues[name].sender != queue.receiver:
                    raise RackwrightError(
                        f"queue {queue.name}: then names {name}, which {queue.receiver} does not fill"
                    )
        for service in self.services.values():
            if service.window is not None:
                for name in self.begun(service.name):
                    self._check_answers(service.name, name)

    @cached_property
    def caused(self) -> frozenset[str]:
        """Queues that receive elements caused by other elements."""
        return frozenset(name for queue in self.queues.values() for name in queue.then)

    def begun(self, service: str) -> list[str]:
        """The queues to which a service sends elements that it creates itself."""
        known = self.services[service]
        if known.window is None and any(queue.receiver == service for queue in self.queues.values()):
            return []
        return [
            queue.name
            for queue in self.queues.values()
            if queue.sender == service and queue.name not in self.caused
        ]

    def reached(self, start: str) -> list[str]:
        """A queue, and all queues that its elements cause elements in."""
        found, rest = [start], [start]
        while rest:
            for name in self.queues[rest.pop()].then:
                if name not in found:
                    found.append(name)
                    rest.append(name)
        return found

    def _check_answers(self, service: str, queue: str, passed: tuple[str, ...] = ()) -> None:
        if queue in passed:
            raise RackwrightError(
                f"service {service}: has a window, but its requests circulate through {queue} for ever"
            )
        then, receiver = self.queues[queue].then, self.queues[queue].receiver
        if not then and receiver != service:
            raise RackwrightError(
                f"service {service}: has a window, but what it begins ends at {receiver} (queue {queue}), "
                "and no answer comes back"
            )
        for name in then:
            self._check_answers(service, name, (*passed, queue))


def read_graph(path: Path) -> Graph:
    """Reads a graph; raises `RackwrightError` that names file and field.

    Without `then`, a service that creates nothing sends one element to each of its queues for each element
    received, and one that creates elements sends nothing.
    """
    reader = DocumentReader(path)
    document = reader.mapping("it", load_yaml(path), ("services", "queues"))
    services = {
        str(name): _service(reader, str(name), value)
        for name, value in reader.mapping("services", document.get("services"), None).items()
    }
    described = {
        str(name): reader.mapping(f"queue {name}", value, _QUEUE_FIELDS)
        for name, value in reader.mapping("queues", document.get("queues"), None).items()
    }
    for name, fields in described.items():
        for end in ("from", "to"):
            if not isinstance(fields.get(end), str):
                raise reader.error(
                    f"queue {name}: {end}", f"is {fields.get(end)!r}, not the name of a service"
                )
    queues = {name: _queue(reader, name, fields, services, described) for name, fields in described.items()}
    try:
        return Graph(services, queues)
    except RackwrightError as error:
        raise RackwrightError(f"{path}: {error}") from error


def _service(reader: DocumentReader, name: str, value: Any) -> Service:
    where = f"service {name}"
    fields = reader.mapping(where, value, _SERVICE_FIELDS)
    for needed in ("by", "tile"):
        if not isinstance(fields.get(needed), str):
            raise reader.error(f"{where}: {needed}", f"is {fields.get(needed)!r}, not a name")
    window = fields.get("window")
    return Service(
        name,
        fields["by"],
        fields["tile"],
        None if window is None else _number(reader, f"{where}: window", window, 1, LONGEST),
        bool(fields.get("polls", False)),
        _number(reader, f"{where}: holds", fields.get("holds", 1), 1, LONGEST),
        _number(reader, f"{where}: memory_bytes", fields.get("memory_bytes", 0), 0, 1 << 40),
    )


def _queue(
    reader: DocumentReader,
    name: str,
    fields: dict[str, Any],
    services: Mapping[str, Service],
    described: Mapping[str, dict[str, Any]],
) -> Queue:
    where = f"queue {name}"
    full = fields.get("full", "wait")
    if full not in ("wait", "drop"):
        raise reader.error(f"{where}: full", f"is {full!r}; there are wait, drop")
    size = _number(reader, f"{where}: element_bytes", fields.get("element_bytes", 8), 8, 64)
    if size not in ELEMENT_BYTES:
        raise reader.error(f"{where}: element_bytes", f"is {size}, not a multiple of 8 from 8 to 64")
    rate = fields.get("rate", 1.0)
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate < float("inf"):
        raise reader.error(f"{where}: rate", f"is {rate!r}, not a number from 0 on")
    receiver = fields["to"]
    known = services.get(receiver)
    passes_on = known is not None and known.window is None
    outgoing = [other for other, given in described.items() if given["from"] == receiver] if passes_on else []
    then = fields.get("then", outgoing)
    if not isinstance(then, list):
        raise reader.error(f"{where}: then", f"is {then!r}, not a list of queues")
    return Queue(
        name,
        fields["from"],
        receiver,
        _number(reader, f"{where}: elements", fields.get("elements"), 1, LONGEST),
        size,
        full == "drop",
        tuple(map(str, then)),
        float(rate),
    )


def _number(reader: DocumentReader, where: str, value: Any, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise reader.error(where, f"is {value!r}, not an integer from {least} to {most}")
    return value
