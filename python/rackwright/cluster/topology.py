"""A topology as plain data: all nodes reachable from the roots, with names and numbered ports."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rackwright.cluster.errors import TopologyError
from rackwright.cluster.links import Ethernet
from rackwright.cluster.nodes import Joint, Node, Switch, Traffic, called

if TYPE_CHECKING:
    from rackwright._engine import Design


@dataclass(frozen=True)
class Topology:
    """The input of the engine: `description` consists only of dicts, lists, strings and numbers.

    Two topologies are equal if they describe the same. `str()` prints one as a tree. `designs` are the
    hardware units of the servers, by the names that the description uses.
    """

    description: dict[str, Any]
    designs: Mapping[str, Design] = field(default_factory=dict, repr=False, compare=False)
    names: Mapping[Node, str] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def reached_from(
        cls,
        roots: Sequence[Node],
        link: Ethernet,
        change: Callable[[dict[str, Node]], None] = lambda _: None,
    ) -> Topology:
        """All nodes connected to `roots`, with `link` where no link was given.

        `change` receives the nodes by name before they are described, and may change their attributes.

        Nodes are in depth-first order, so that each rack is contiguous. Missing names are assigned by
        counting: `switch0`, `client0`, `server0`.
        """
        nodes = _depth_first(roots)
        names = _named(nodes)
        change({name: node for node, name in names.items()})
        joints = {joint.order: joint for node in nodes for joint in node.joints}
        return cls(
            {
                "nodes": [{"name": names[node], **node.describe(names)} for node in nodes],
                "links": [_link(joints[order], names, link) for order in sorted(joints)],
            },
            {name: design for node in nodes for name, design in node.designs().items()},
            names,
        )

    def name_of(self, node: Node) -> str:
        """The name of a node. Raises `TopologyError` when it is not in this topology."""
        if node not in self.names:
            raise TopologyError(f"{called(node)} is not in the cluster")
        return self.names[node]

    def json(self) -> str:
        """As text."""
        return json.dumps(self.description)

    def neighbours(self) -> dict[str, list[str]]:
        """For every node, the nodes at the other ends of its ports, in the order of the ports."""
        neighbours: dict[str, list[str]] = {node["name"]: [] for node in self.description["nodes"]}
        for joint in self.description["links"]:
            one, other = joint["ends"]
            neighbours[one].append(other)
            neighbours[other].append(one)
        return neighbours

    def switches(self) -> list[str]:
        """The names of the switches."""
        return [node["name"] for node in self.description["nodes"] if node["kind"] == "switch"]

    def below(self) -> dict[str, list[dict[str, Any]]]:
        """For every node, the links that were added as its downlinks, in order; servers have none."""
        switches = set(self.switches())
        below: dict[str, list[dict[str, Any]]] = {node["name"]: [] for node in self.description["nodes"]}
        for link in self.description["links"]:
            one, other = link["ends"]
            if one not in switches:
                one, other = other, one
            below[one].append({**link, "ends": [one, other]})
        return below

    def levels(self) -> list[list[str]]:
        """The nodes by their maximum number of downlinks from a root: all roots first."""
        below = self.below()
        depth = dict.fromkeys(below, 0)
        above = Counter(link["ends"][1] for links in below.values() for link in links)
        ready = [name for name in below if not above[name]]
        left = set(below)
        while left:
            # Links in a ring have no beginning; then the node that was reached first is it.
            name = ready.pop(0) if ready else next(name for name in below if name in left)
            if name not in left:
                continue
            left.discard(name)
            for link in below[name]:
                far = link["ends"][1]
                if far in left:
                    depth[far] = max(depth[far], depth[name] + 1)
                    above[far] -= 1
                    ready += [far] if not above[far] else []
        levels: list[list[str]] = [[] for _ in range(1 + max(depth.values()))]
        for name in below:
            levels[depth[name]].append(name)
        return levels

    def __str__(self) -> str:
        below = self.below()
        lines: list[str] = []
        seen: set[str] = set()
        pending = [(name, 0, "") for name in reversed(self.levels()[0])]
        while pending:
            name, depth, link = pending.pop()
            again = name in seen
            lines.append("  " * depth + name + link + (" (above)" if again else ""))
            if not again:
                seen.add(name)
                pending += [
                    (link["ends"][1], depth + 1, f"  {describe_link(link)}") for link in reversed(below[name])
                ]
        return "\n".join(lines)


def describe_link(link: Mapping[str, Any]) -> str:
    """A link of a description, for people: its latency, and its speed unless that is a flit per cycle."""
    rate = link["bits_per_second"]
    return f"{link['latency_us']:g} us" + (f", {rate / 1e9:g} Gbit/s" if rate else "")


def _depth_first(roots: Sequence[Node]) -> list[Node]:
    nodes: dict[Node, None] = {}
    pending = list(reversed(roots))
    while pending:
        node = pending.pop()
        if node not in nodes:
            nodes[node] = None
            pending += [joint.far(node) for joint in reversed(node.joints)]
    return list(nodes)


def _named(nodes: Sequence[Node]) -> dict[Node, str]:
    given = {node.name for node in nodes if node.name}
    counts: Counter[str] = Counter()
    names = {}
    for node in nodes:
        name = node.name
        while name is None or (node.name is None and name in given):
            kind = _kind(node)
            name = f"{kind}{counts[kind]}"
            counts[kind] += 1
        names[node] = name
    return names


def _kind(node: Node) -> str:
    if isinstance(node, Switch):
        return "switch"
    return "client" if isinstance(node, Traffic) and node.sends and not node.service else "server"


def _link(joint: Joint, names: dict[Node, str], default: Ethernet) -> dict[str, Any]:
    link = joint.link or default
    if not isinstance(link, Ethernet):
        ends = f"`{names[joint.one]}` and `{names[joint.other]}`"
        raise TopologyError(f"link of {ends}: an Ethernet is needed, not {link!r}")
    return {
        "ends": [names[joint.one], names[joint.other]],
        "latency_us": link.latency_us,
        "bits_per_second": link.bits_per_second,
    }
