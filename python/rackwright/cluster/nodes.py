"""Servers and switches, and their connections."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from rackwright.cluster.dispatch import Dispatch
from rackwright.cluster.distributions import Distribution
from rackwright.cluster.errors import TopologyError
from rackwright.cluster.links import Ethernet
from rackwright.cluster.loads import Load
from rackwright.hardware.designs import design

if TYPE_CHECKING:
    from rackwright._engine import Design

Fidelity = Literal["model", "rtl"]
"""The kind of dispatcher in a switch."""

Selection = Literal["random", "round-robin", "power-of-two"]
"""The targets of a client's requests."""

_ORDER = itertools.count()


@dataclass(frozen=True, eq=False)
class Joint:
    """A link between two nodes.

    `order` counts links in the order in which they are added, which determines port numbers.
    """

    one: Node
    other: Node
    link: Ethernet | None
    order: int

    def far(self, near: Node) -> Node:
        """The other end, seen from `near`."""
        return self.other if near is self.one else self.one


class Node:
    """A node with ports."""

    def __init__(self, name: str | None) -> None:
        self.name = name
        self.joints: list[Joint] = []

    def connect(self, other: Node, link: Ethernet | None = None) -> None:
        """Joins the next free ports of two nodes by `link`, or else by the link of the cluster."""
        if not isinstance(other, Node):
            raise TopologyError(
                f"{called(self)} cannot be linked to a {type(other).__name__}: clusters are made of "
                "`Switch`, `Server` and `Traffic`"
            )
        joint = Joint(self, other, link, next(_ORDER))
        self.joints.append(joint)
        other.joints.append(joint)

    def describe(self, names: Mapping[Node, str]) -> dict[str, Any]:
        """As the engine reads it, without its name."""
        raise NotImplementedError

    def designs(self) -> Mapping[str, Design]:
        """The hardware units in it, by the names that its description uses."""
        return {}


class Switch(Node):
    """A store-and-forward switch with one port per link.

    `switching_cycles` pass from the last flit in to the first flit out. Each output port has a buffer of
    `buffer_kib`; frames that don't fit are dropped and counted. From `mark_kib` on, frames whose ends
    understand ECN are marked. `policy` chooses among equal ports: `flow-hash` keeps a flow on one of them,
    `least-queued` takes the emptiest for each frame; docs/write-a-switch-policy.md adds one. `routes` sets
    the route to a server (by name) through neighbours (by name) instead of the shortest path.

    With `dispatch` it takes the requests for services right below it and chooses their replicas, together
    with all other switches that dispatch; with the `fidelity` "rtl" the unit `daronpon` does that, instead of
    the model that it equals. It loses frames with the probability `loss`, and all frames between the pairs of
    times in `outages_us`, after which its state is lost. With the probability `late` a frame arrives up to
    `late_us` later than it should, so that others overtake it.
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        switching_cycles: int = 10,
        buffer_kib: float = 512,
        mark_kib: float | None = None,
        largest_frame: int = 9600,
        policy: str = "flow-hash",
        routes: Mapping[str, Sequence[str]] | None = None,
        dispatch: Dispatch | None = None,
        fidelity: Fidelity = "model",
        loss: float = 0.0,
        late: float = 0.0,
        late_us: float = 0.0,
        outages_us: Iterable[tuple[float, float]] = (),
    ) -> None:
        super().__init__(name)
        self.switching_cycles = switching_cycles
        self.buffer_kib = buffer_kib
        self.mark_kib = mark_kib
        self.largest_frame = largest_frame
        self.policy = policy
        self.routes = dict(routes or {})
        self.dispatch = dispatch
        self.fidelity = fidelity
        self.loss = loss
        self.late = late
        self.late_us = late_us
        self.outages_us = [list(outage) for outage in outages_us]

    def add_downlinks(self, nodes: Iterable[Node], link: Ethernet | None = None) -> None:
        """Links every one of `nodes` below this switch."""
        for node in nodes:
            self.connect(node, link)

    def describe(self, names: Mapping[Node, str]) -> dict[str, Any]:
        """As the engine reads it, without its name."""
        return {
            "kind": "switch",
            "switching_cycles": self.switching_cycles,
            "buffer_bytes": round(self.buffer_kib * 1024),
            "mark_bytes": None if self.mark_kib is None else round(self.mark_kib * 1024),
            "largest_frame": self.largest_frame,
            "policy": self.policy,
            "routes": {to: list(neighbours) for to, neighbours in self.routes.items()},
            "dispatch": self.dispatch and self.dispatch.describe(self._design()),
            "loss": self.loss,
            "late": self.late,
            "late_us": self.late_us,
            "outages_us": self.outages_us,
        }

    def designs(self) -> Mapping[str, Design]:
        """The dispatcher in RTL, if it has one."""
        name = self._design()
        return {} if name is None else {name: design(Path(name))}

    def _design(self) -> str | None:
        if self.fidelity not in get_args(Fidelity):
            raise TopologyError(f"a switch has the fidelity `model` or `rtl`, not {self.fidelity!r}")
        if self.fidelity == "model":
            return None
        if self.dispatch is None:
            raise TopologyError("only a switch that dispatches has the fidelity `rtl`")
        return str(self.dispatch.unit())


class Traffic(Node):
    """A server of `traffic` fidelity: a client, a service, or both, defined by distributions.

    As a client, it `sends` requests of `request_bytes` to one of `to`, chosen randomly each time, and expects
    `answer_bytes`; a request without a response after `timeout_us` is lost; it starts at `start_us` and ends
    after this number of `requests`. As a service, it processes each request for a time drawn from `service`,
    on `cores` behind one queue of at most `queue` requests. `stack_us` is the latency of every message
    between network and program, in each direction. `mac` and `ip` are assigned unless pinned.

    `selection` is `random`, `round-robin`, or `power-of-two`: of two drawn at random the one with fewer
    requests when it last answered. `service_id` identifies services for switches that dispatch. Between the
    pairs of times in `outages_us` it is down, and requests in progress are lost.
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        sends: Load | None = None,
        to: Traffic | Iterable[Traffic] = (),
        request_bytes: int = 64,
        answer_bytes: int = 64,
        requests: int | None = None,
        start_us: float = 0.0,
        timeout_us: float = 10_000.0,
        selection: Selection = "random",
        service: Distribution | None = None,
        cores: int = 1,
        queue: int | None = None,
        service_id: int = 0,
        outages_us: Iterable[tuple[float, float]] = (),
        stack_us: float = 0.0,
        buffer_kib: float = 512,
        ecn: bool = False,
        mac: str | None = None,
        ip: str | None = None,
        port: int = 11211,
    ) -> None:
        super().__init__(name)
        self.sends = sends
        self.to = [to] if isinstance(to, Traffic) else list(to)
        self.request_bytes = request_bytes
        self.answer_bytes = answer_bytes
        self.requests = requests
        self.start_us = start_us
        self.timeout_us = timeout_us
        self.selection = selection
        self.service_id = service_id
        self.outages_us = [list(outage) for outage in outages_us]
        self.service = service
        self.cores = cores
        self.queue = queue
        self.stack_us = stack_us
        self.buffer_kib = buffer_kib
        self.ecn = ecn
        self.mac = mac
        self.ip = ip
        self.port = port

    def describe(self, names: Mapping[Node, str]) -> dict[str, Any]:
        """As the engine reads it, without its name."""
        return {
            "kind": "traffic",
            "mac": self.mac,
            "ip": self.ip,
            "port": self.port,
            "stack_us": self.stack_us,
            "buffer_bytes": round(self.buffer_kib * 1024),
            "ecn": self.ecn,
            "client": self._client(names),
            "service": self._service(),
            "service_id": self.service_id,
            "outages_us": self.outages_us,
        }

    def _client(self, names: Mapping[Node, str]) -> dict[str, Any] | None:
        if self.sends is None:
            return None
        strangers = [node for node in self.to if node not in names]
        if strangers:
            raise TopologyError(f"`{names[self]}` sends to {called(strangers[0])}, but no path connects them")
        return {
            "to": [names[node] for node in self.to],
            "load": self.sends.describe(),
            "request_bytes": self.request_bytes,
            "answer_bytes": self.answer_bytes,
            "start_us": self.start_us,
            "timeout_us": self.timeout_us,
            "requests": self.requests,
            "selection": self.selection,
        }

    def _service(self) -> dict[str, Any] | None:
        if self.service is None:
            return None
        return {"cores": self.cores, "time": self.service.describe(), "queue": self.queue}


class MemoryBlade(Node):
    """A memory blade: it keeps pages of 4 KiB for servers, without a processor.

    It answers one request at a time, `service_us` after the request's last flit, and has room for
    `memory_mib`. Between the pairs of times in `outages_us` it is dead, and its pages are lost. The
    protocol is in software/remote-memory/PROTOCOL.md. `mac` and `ip` are assigned unless pinned.
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        service_us: float = 0.2,
        memory_mib: int = 1024,
        outages_us: Iterable[tuple[float, float]] = (),
        mac: str | None = None,
        ip: str | None = None,
    ) -> None:
        super().__init__(name)
        self.service_us = service_us
        self.memory_mib = memory_mib
        self.outages_us = [list(outage) for outage in outages_us]
        self.mac = mac
        self.ip = ip

    def describe(self, names: Mapping[Node, str]) -> dict[str, Any]:
        """As the engine reads it, without its name."""
        return {
            "kind": "memory_blade",
            "mac": self.mac,
            "ip": self.ip,
            "service_us": self.service_us,
            "pages": self.memory_mib * 256,
            "outages_us": self.outages_us,
        }


def called(node: Node) -> str:
    """The name of a node in an error message before names are assigned."""
    return f"`{node.name}`" if node.name else f"a {type(node).__name__} without a name"
