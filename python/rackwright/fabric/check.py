"""The rules of legal fabrics, each with a witness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from rackwright.errors import RackwrightError
from rackwright.fabric.nodes import Card, Node, PcieSwitch, RootComplex
from rackwright.fabric.values import CLASSES, PcieLink

SIZES = (128, 256, 512, 1024, 2048, 4096)
"""Lengths of payloads and read requests that the specification has."""

_LEAST_MEMORY, _WINDOW = 1 << 20, 1 << 40
"""Bytes of the smallest memory of a card, and of the window of the host bridge for cards."""

_HEADERS, _DATA = 127, 2047
"""The maximum number of credits that the fields of packets can represent."""


def the_root(nodes: Iterable[Node]) -> RootComplex:
    """The only root among nodes.

    Raises `RackwrightError` if there is none, if there are two, or if one is below a node.
    """
    every = list(nodes)
    roots = [node for node in every if isinstance(node, RootComplex)]
    if not roots:
        raise RackwrightError("the fabric has no RootComplex")
    if len(roots) > 1:
        names = " and ".join(_first_below(root) for root in roots[:2])
        raise RackwrightError(f"the fabric has two roots: {names}")
    for node in every:
        for below, _ in node.below:
            if isinstance(below, RootComplex):
                raise RackwrightError(f"the root is below {_called(node)}")
    return roots[0]


def _first_below(root: RootComplex) -> str:
    below = ", ".join(_called(node) for node, _ in root.below) or "nothing"
    return f"{_called(root)} above {below}"


def walk(root: RootComplex) -> Iterator[tuple[Node | None, Node, PcieLink | None]]:
    """Each node with the one above it and the link between, depth first.

    Raises `RackwrightError` for a loop, and for a node with two links to the root.
    """
    seen: dict[int, Node] = {}

    def below(
        above: Node | None, node: Node, link: PcieLink | None, way: list[Node]
    ) -> Iterator[tuple[Node | None, Node, PcieLink | None]]:
        if any(node is each for each in way):
            loop = way[[each is node for each in way].index(True) :]
            raise RackwrightError(f"the fabric has a loop: {' - '.join(map(_called, [*loop, node]))}")
        if id(node) in seen:
            ways = f"{_called(seen[id(node)])} and {_called(above)}"
            raise RackwrightError(f"{_called(node)} has two links to the root: below {ways}")
        if above is not None:
            seen[id(node)] = above
        yield above, node, link
        for each, further in node.below:
            yield from below(node, each, further, [*way, node])

    yield from below(None, root, None, [])


def check_nodes(nodes: Iterable[Node]) -> None:
    """Raises `RackwrightError` for names, payloads, credits and places that cannot be."""
    every = list(nodes)
    names = Counter(node.name for node in every)
    for name, count in names.items():
        if count > 1:
            kinds = " and ".join(node.kind for node in every if node.name == name)
            raise RackwrightError(f"two nodes are called {name}: a {kinds}")
    root = every[0]
    assert isinstance(root, RootComplex)
    _check_root(root)
    for node in every:
        _check_node(node, root)
    cards = [node for node in every if isinstance(node, Card)]
    if not cards:
        raise RackwrightError("the fabric has no card")
    _check_windows(cards)


def _check_windows(cards: Sequence[Card]) -> None:
    """Memories of cards are powers of two, and their windows fit into that of the host bridge."""
    owners = [(card.memory, card) for card in cards if card.memory is not None]
    for size, card in owners:
        if size & (size - 1) or size < _LEAST_MEMORY:
            raise RackwrightError(
                f"{card.name}: the memory of a card is a power of two from 1 MiB on, not {size} bytes"
            )
    # Each window is at a multiple of its size, behind that of the registers.
    end = 0
    for size, card in owners:
        end = (end // size + 1) * size + size
        if end > _WINDOW:
            raise RackwrightError(
                f"{card.name}: its window of {size} bytes doesn't fit into the 1 TiB of the host bridge "
                f"behind those of {len(cards) - 1} other cards"
            )


def _check_root(root: RootComplex) -> None:
    for what, value in (("payloads", root.payload_bytes), ("read requests", root.read_request_bytes)):
        if value not in SIZES:
            raise RackwrightError(
                f"{root.name}: {what} are one of {', '.join(map(str, SIZES))} bytes, not {value!r}"
            )
    payload = root.payload_bytes
    assert payload is not None
    if root.completion_bytes % 64 or not 64 <= root.completion_bytes <= payload:
        raise RackwrightError(
            f"{root.name}: completions carry a multiple of 64 bytes up to {payload}, "
            f"not {root.completion_bytes!r}"
        )


def _check_node(node: Node, root: RootComplex) -> None:
    if node.payload_bytes not in (None, root.payload_bytes):
        raise RackwrightError(
            f"unequal payloads: {root.name} sends {root.payload_bytes} bytes, and {node.name} takes "
            f"{node.payload_bytes}: a longer packet is malformed there"
        )
    if isinstance(node, Card):
        if node.below:
            raise RackwrightError(f"{_called(node.below[0][0])} is below {node.name}, which is a card")
        return
    assert isinstance(node, RootComplex | PcieSwitch)
    if not 0 <= node.latency_ns <= 1e6:
        raise RackwrightError(f"{node.name}: a latency is 0 to 1000000 ns, not {node.latency_ns!r}")
    for kind in CLASSES:
        credits = getattr(node.credits, kind)
        if credits is not None:
            _check_credits(f"{node.name}: {kind}", credits, root.payload_bytes or 0, kind)


def _check_credits(where: str, credits: tuple[int, int], payload: int, kind: str) -> None:
    headers, data = credits
    needed = 1 if kind == "non_posted" else payload // 16
    if headers < 1 or data < 1:
        raise RackwrightError(f"{where} has zero credits: no such packet could ever be sent")
    if data < needed:
        raise RackwrightError(
            f"{where} has {data} data credits, and one packet of {payload} bytes needs {needed}"
        )
    if headers > _HEADERS or data > _DATA:
        raise RackwrightError(
            f"{where} has {headers} header and {data} data credits; {_HEADERS} and {_DATA} can be advertised"
        )


def _called(node: Node | None) -> str:
    if node is None:
        return "the host"
    unit = f" {node.label}" if isinstance(node, Card) else ""
    return node.name or f"a {node.kind}{unit}"
