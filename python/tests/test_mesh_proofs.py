"""Bounded proofs of the mesh's router: nothing lost, doubled, mixed or sent without a credit."""

from __future__ import annotations

from pathlib import Path

import pytest
from bounded_proofs import Claim, Source, each, each_fault, needs_yosys, notice, prove

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


@pytest.mark.parametrize("claim", each(CLAIMS))
def test_a_claim_holds(claim: Claim, tmp_path: Path) -> None:
    """For any packets from all sides, whenever credits come back."""
    prove(SMALLEST, tmp_path, claim, claim.cycles)


@pytest.mark.parametrize("claim", each_fault(CLAIMS))
def test_a_seeded_fault_is_noticed(claim: Claim, tmp_path: Path) -> None:
    """By the claim alone: what it speaks of happens within so few cycles."""
    notice(SMALLEST, tmp_path, claim)


@pytest.mark.long
@pytest.mark.parametrize("claim", each(CLAIMS))
def test_a_claim_holds_for_longer(claim: Claim, tmp_path: Path) -> None:
    """As far as a minute or so allows."""
    prove(SMALLEST, tmp_path, claim, claim.more)
