"""A mesh as a value: its topology, its routing and its classes of messages, for RTL, checker and drawing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, TypedDict

from rackwright.errors import RackwrightError

CLASSES = ("request", "forward", "response")
"""Classes of messages: a request to the home of a line, the home's request to its owner, and the response."""

CAUSES = {"request": ("forward", "response"), "forward": ("response",), "response": ()}
"""The messages that a tile has to send before it completes a message of each class; a response causes
none.
"""

ROUTINGS = ("xy", "yx")
"""Along the row first, or along the column first."""

LARGEST = 8
"""Most tiles in a row, and most rows."""

FLIT_BYTES = (8, 16, 32, 64)
"""Widths of a flit."""

NETWORK_HOP_CYCLES = 2
"""Cycles from router to router without further registers: the one of the arbiter, and the link."""


class Place(NamedTuple):
    """Coordinates of a tile; the top left one is (0, 0)."""

    x: int
    y: int

    def __str__(self) -> str:
        return f"({self.x}, {self.y})"


TOP_LEFT = Place(0, 0)
"""The default position of memory."""


class Channel(NamedTuple):
    """A link in one direction; without a start or an end, from or to the tile at its other end."""

    network: int
    start: Place | None
    end: Place | None

    def __str__(self) -> str:
        named = {True: "tile"}
        start, end = (named.get(place is None, str(place)) for place in (self.start, self.end))
        return f"network {self.network}: {start} → {end}"


class Shape(TypedDict):
    """The routers of each network, as the engine takes them."""

    width: int
    height: int
    routing: str
    depth: int
    stages: int


@dataclass(frozen=True)
class Mesh:
    """Routers in rows, each with a tile, as `hardware/…/noc` builds them.

    `networks` maps each class of messages to its network: classes that share one wait for each other. `depth`
    is the flits that each queue of a router holds, `stages` the further registers in front of each input of a
    router. Raises `RackwrightError` for values that there are not.
    """

    width: int
    height: int
    routing: str = "xy"
    networks: Mapping[str, int] = field(default_factory=lambda: {name: n for n, name in enumerate(CLASSES)})
    flit_bytes: int = 16
    depth: int = 4
    stages: int = 0

    def __post_init__(self) -> None:
        for name, least, most in (
            ("width", 1, LARGEST),
            ("height", 1, LARGEST),
            ("depth", 3, 16),
            ("stages", 0, 4),
        ):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise RackwrightError(f"{name} is {value!r}, not an integer from {least} to {most}")
        if self.width * self.height < 2:
            raise RackwrightError("width and height are 1: a mesh has two tiles at least")
        if self.routing not in ROUTINGS:
            raise RackwrightError(f"routing is {self.routing!r}; there are {', '.join(ROUTINGS)}")
        if self.flit_bytes not in FLIT_BYTES:
            raise RackwrightError(f"flit_bytes is {self.flit_bytes!r}; there are 8, 16, 32, 64")
        if set(self.networks) != set(CLASSES):
            raise RackwrightError(f"networks has {', '.join(self.networks)}; it needs {', '.join(CLASSES)}")
        if sorted(set(self.networks.values())) not in ([0], [0, 1], [0, 1, 2]):
            raise RackwrightError("networks does not number its networks from 0 on")

    @property
    def network_count(self) -> int:
        """Networks side by side."""
        return len(set(self.networks.values()))

    @property
    def hop_cycles(self) -> int:
        """Cycles from router to router without contention."""
        return NETWORK_HOP_CYCLES + self.stages

    def places(self) -> list[Place]:
        """Of all tiles, row by row: a tile's number is its index here."""
        return [Place(x, y) for y in range(self.height) for x in range(self.width)]

    def route(self, start: Place, end: Place) -> list[Place]:
        """The routers that a packet passes, both ends among them."""
        passed = [start]
        for axis in self.routing:
            while getattr(passed[-1], axis) != getattr(end, axis):
                here = getattr(passed[-1], axis)
                step = 1 if getattr(end, axis) > here else -1
                passed.append(passed[-1]._replace(**{axis: here + step}))
        return passed

    def channels(self, network: int, start: Place, end: Place) -> list[Channel]:
        """The links that a packet passes, from the tile at the start to the tile at the end."""
        passed: list[Place | None] = [None, *self.route(start, end), None]
        return [Channel(network, *pair) for pair in pairwise(passed)]

    def dependencies(self) -> Iterator[tuple[Channel, Channel]]:
        """Pairs of channels such that a packet may hold the first while it waits for the second.

        Any tile may send to any other. A tile completes a message when the messages that it causes have been
        sent; therefore the last channel of one class waits for the first of another.
        """
        places = self.places()
        for network in range(self.network_count):
            for start in places:
                for end in places:
                    passed = self.channels(network, start, end)
                    yield from pairwise(passed)
        for name, caused in CAUSES.items():
            for other in caused:
                for place in places:
                    yield (
                        Channel(self.networks[name], place, None),
                        Channel(self.networks[other], None, place),
                    )

    def shape(self) -> Shape:
        """What all its networks have in common."""
        return {
            "width": self.width,
            "height": self.height,
            "routing": self.routing,
            "depth": self.depth,
            "stages": self.stages,
        }

    def parameters(self) -> dict[str, int | str]:
        """The parameters of the unit `mesh`."""
        return {
            "width": self.width,
            "height": self.height,
            "routing": self.routing,
            "networks": self.network_count,
            "flit-bytes": self.flit_bytes,
            "depth": self.depth,
            "stages": self.stages,
        }
