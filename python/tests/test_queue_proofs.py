"""Bounded proofs of the engines of a tile: nothing is lost, doubled, torn, or written where it may not be."""

from __future__ import annotations

from bounded_proofs import Claim, Proofs, Source, needs_yosys

pytestmark = needs_yosys

SMALL = (("port-bytes", 16), ("stream-bytes", 16), ("outstanding", 4))

TILE = Source("stream-copy", SMALL, command="queue")

PACKETS = Source("stream-copy", SMALL, command="packets")

SLOW = "20 to 33 s; nothing else is proved to be written, test_tile_queues.py sees the tags of 400 endings"

EARLY = "9 s; one that was read too early has another tag, and test_tile_queues.py sees those of 400 endings"

SHARED = "10 to 20 s of a processor; that tickets are kept and each is drawn once is proved in a short run"

CLAIMS = (
    Claim("queue_engine", 1, "a descriptor is read only when it was published", 30, 40, 30, EARLY),
    Claim("queue_engine", 2, "a place is released when its descriptor has been read", 32, 40, 34),
    Claim("queue_engine", 3, "an ending is written only where there is a place", 46, 52, 48, SLOW),
    Claim("queue_engine", 4, "endings are published when memory has answered them", 50, 54, 50, SLOW),
    Claim("queue_engine", 5, "each descriptor has one ending, with its tag", 36, 52, 48, SLOW),
    Claim("queue_engine", 6, "nothing else is written", 36, 52, 34),
    Claim("queue_interrupt", 1, "one whose index memory has is pending", 8, 12, 6),
    Claim("queue_interrupt", 2, "none is raised while the engine is closed", 8, 12, 6),
    Claim("queue_interrupt", 3, "it is pending until it is acknowledged", 8, 12, 6),
    Claim("queue_interrupt", 4, "none is raised that was not enabled", 8, 12, 6),
    Claim("queue_interrupt", 5, "an engine that ends wakes who sleeps", 8, 12, 6),
    Claim("queue_interrupt", 6, "the line is high while one is pending", 8, 12, 6),
    Claim(
        "shared_queue_engine",
        1,
        "a ticket is drawn only for a descriptor that was written",
        34,
        40,
        34,
        SHARED,
    ),
    Claim("shared_queue_engine", 2, "a descriptor is read only by who holds its ticket", 34, 40, 34, SHARED),
    Claim("shared_queue_engine", 3, "a place is freed once, when its descriptor has been read", 34, 40, 38),
    Claim(
        "shared_queue_engine",
        4,
        "an ending is written only with a ticket, to a free place",
        46,
        50,
        50,
        SHARED,
    ),
    Claim(
        "shared_queue_engine",
        5,
        "an ending's turn is written when memory has answered it",
        46,
        50,
        54,
        SHARED,
    ),
    Claim("shared_queue_engine", 6, "each descriptor has one ending, with its tag", 46, 50, 50, SHARED),
    Claim("shared_queue_engine", 7, "nothing else is written, and each ticket is drawn once", 34, 40, 38),
)

MINUTES = "a minute of a processor to translate the engines, and up to ten seconds for each claim"

ELEMENTS = tuple(
    Claim(fixture, number, what, cycles, more, noticed, MINUTES)
    for fixture, number, what, cycles, more, noticed in (
        ("element_taker", 1, "a line is read only while it has published elements", 20, 22, 16),
        ("element_taker", 2, "elements leave once each, in order and whole", 20, 22, 20),
        ("element_taker", 3, "a place is released when its element has left", 20, 22, 20),
        ("element_taker", 4, "the end is told when every element has left", 18, 20, 16),
        ("element_taker", 5, "a right queue is no problem", 18, 20, 8),
        ("element_giver", 1, "a write goes to places that are free", 20, 22, 18),
        ("element_giver", 2, "each element is written once, to its place and whole", 18, 20, 18),
        ("element_giver", 3, "elements are published when memory has answered", 20, 22, 22),
        ("element_giver", 4, "all is done when every element is published", 22, 24, 24),
        ("element_giver", 5, "an offer is taken as far as its line goes", 20, 22, 18),
        ("element_giver", 6, "a right queue is no problem", 18, 20, 8),
    )
)


class TestQueue(Proofs):
    """Whenever the producer, the consumer, memory and the unit do their part."""

    claims = CLAIMS
    sources = dict.fromkeys((claim.fixture for claim in CLAIMS), TILE)


class TestElements(Proofs):
    """The same of elements of 8 bytes, several of which are moved together."""

    claims = ELEMENTS
    sources = dict.fromkeys((claim.fixture for claim in ELEMENTS), PACKETS)
