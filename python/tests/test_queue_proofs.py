"""Bounded proofs of the engine of a tile: no element is lost, doubled, or written where it may not be."""

from __future__ import annotations

from bounded_proofs import Claim, Proofs, Source, needs_yosys

pytestmark = needs_yosys

TILE = Source("stream-copy", (("port-bytes", 16), ("stream-bytes", 16), ("outstanding", 4)), command="queue")

SLOW = "20 s of a processor; each descriptor is proved to have one ending, and nothing else to be written"

CLAIMS = (
    Claim("queue_engine", 1, "a descriptor is read only when it was published", 30, 40, 30),
    Claim("queue_engine", 2, "a place is released when its descriptor has been read", 32, 40, 34),
    Claim("queue_engine", 3, "an ending is written only where there is a place", 46, 52, 48, SLOW),
    Claim("queue_engine", 4, "endings are published when memory has answered them", 50, 54, 50, SLOW),
    Claim("queue_engine", 5, "each descriptor has one ending, with its tag", 36, 52, 48),
    Claim("queue_engine", 6, "nothing else is written", 36, 52, 34),
)


class TestQueue(Proofs):
    """Whenever the producer, the consumer, memory and the unit do their part."""

    claims = CLAIMS
    sources = dict.fromkeys((claim.fixture for claim in CLAIMS), TILE)
