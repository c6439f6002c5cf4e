"""A complete fabric: a checked tree, with a name for each node."""

from __future__ import annotations

import json
import runpy
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rackwright.errors import RackwrightError
from rackwright.fabric.check import check_nodes, the_root, walk
from rackwright.fabric.nodes import Card, Design, Node, PcieSwitch, RootComplex
from rackwright.fabric.values import Connection


@dataclass(frozen=True)
class System:
    """A legal fabric: its nodes, depth first from the root, and its links."""

    root: RootComplex
    nodes: tuple[Node, ...]
    links: tuple[Connection, ...]

    @classmethod
    def of(cls, root: RootComplex) -> System:
        """The fabric below a root. Raises `RackwrightError` with a witness for one that cannot be."""
        found = list(walk(root))
        nodes = tuple(node for _, node, _ in found)
        _name(nodes)
        check_nodes(nodes)
        links = tuple(
            Connection(str(above.name), str(node.name), link)
            for above, node, link in found
            if above is not None and link is not None
        )
        return cls(root, nodes, links)

    @property
    def cards(self) -> list[Card]:
        """The cards, in the order of their numbers."""
        return [node for node in self.nodes if isinstance(node, Card)]

    @property
    def switches(self) -> list[PcieSwitch]:
        """The switches, in the order of their numbers."""
        return [node for node in self.nodes if isinstance(node, PcieSwitch)]

    @staticmethod
    def ports_of(link: Connection) -> tuple[str, str]:
        """The names of both ends of a link: of the lower one, what it sends upwards, and of the upper one."""
        return f"{link.below}->{link.above}", f"{link.above}->{link.below}"

    @property
    def ports(self) -> list[str]:
        """The names of all ports, in the order of their links."""
        return [port for link in self.links for port in reversed(self.ports_of(link))]

    def description(self, models: Mapping[Design, Mapping[str, int]]) -> str:
        """The engine's input, in JSON: cards have the designs of `designs`, or `models`."""
        root = self.root
        designs = self.designs(model=False)

        def function(card: Card) -> dict[str, Any]:
            if card.device is not None:
                return {"device": card.device}
            if card.model:
                return {"model": dict(models[card.design])}
            own = {} if card.memory is None else {"memory_bytes": card.memory}
            return {"design": designs.index(card.design), **own}

        record: dict[str, Any] = {
            "root": {
                "name": root.name,
                "latency_ns": root.latency_ns,
                "peer_to_peer": root.peer_to_peer,
                "completion_bytes": root.completion_bytes,
                "credits": root.credits.record(),
            },
            "switches": [
                {"name": each.name, "latency_ns": each.latency_ns, "credits": each.credits.record()}
                for each in self.switches
            ],
            "cards": [{"name": each.name, **function(each)} for each in self.cards],
            "links": [each.record() for each in self.links],
            "payload_bytes": root.payload_bytes,
            "read_request_bytes": root.read_request_bytes,
        }
        return json.dumps(record)

    def designs(self, *, model: bool) -> list[Design]:
        """The distinct units of the cards with their parameters: those in RTL, or the models."""
        units = (card for card in self.cards if card.device is None)
        return list(dict.fromkeys(card.design for card in units if card.model == model))


def _name(nodes: Iterable[Node]) -> None:
    """Names the nodes that have none after their kind, cards after their unit, with a number from 0 on."""
    counts: Counter[str] = Counter()
    for node in nodes:
        base = node.label if isinstance(node, Card) else node.kind
        if node.name is None:
            node.name = base if isinstance(node, RootComplex) else f"{base}{counts[base]}"
        counts[base] += 1


def load_system(script: Path) -> System:
    """The fabric that a script makes: below the root among its variables.

    Raises `RackwrightError` for a script that cannot be read or fails, or makes none.
    """
    try:
        names = runpy.run_path(str(script))
    except RackwrightError as error:
        raise RackwrightError(f"{script}: {error}") from error
    except OSError as error:
        raise RackwrightError(f"{script}: {error.strerror}") from error
    except Exception as error:
        raise RackwrightError(f"{script}: {type(error).__name__}: {error}") from error
    nodes = {id(value): value for value in names.values() if isinstance(value, Node)}
    try:
        return System.of(the_root(nodes.values()))
    except RackwrightError as error:
        raise RackwrightError(f"{script}: {error}") from error
