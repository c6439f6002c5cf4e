"""Bounded proofs of the mesh's router: nothing lost, doubled, mixed or sent without a credit."""

from __future__ import annotations

from bounded_proofs import Claim, Proofs, Source, needs_yosys

pytestmark = needs_yosys

SMALLEST = Source.of("mesh", {"width": 3, "height": 3, "networks": 1, "flit-bytes": 8, "depth": 3})

CLAIMS = (
    Claim("mesh_router", 1, "no queue gets a flit that it has no place for", 6, 9, 12),
    Claim("mesh_router", 2, "a flit leaves towards its destination", 8, 11, 8),
    Claim("mesh_router", 3, "flits leave once, in order, as they came", 9, 11, 8),
    Claim("mesh_router", 4, "a packet is alone in a queue until it ends", 9, 11, 10),
    Claim("mesh_router", 5, "a credit goes back for each flit that leaves", 10, 14, 9),
    Claim("mesh_router", 6, "none waits for long", 15, 18, 18),
)


class TestRouter(Proofs):
    """For any packets from all sides, whenever credits come back."""

    claims = CLAIMS
    sources = dict.fromkeys((claim.fixture for claim in CLAIMS), SMALLEST)
