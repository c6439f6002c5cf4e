"""Bounded proofs of blocks of DRX: what programs may access, and that each of them ends."""

from __future__ import annotations

from bounded_proofs import Claim, Proofs, Source, needs_yosys

pytestmark = needs_yosys

SMALL = {"lanes": 8, "scratchpad-kib": 4, "banks": 2, "instruction-kib": 1}

SOURCES = {
    "drx_executor": Source.of("drx", SMALL),
    "transfer_cutter": Source.of("drx", SMALL),
    "drx_control": Source.of("drx", SMALL),
}

CLAIMS = (
    Claim("drx_executor", 1, "a load reads bytes of an input alone", 4, 6, 4),
    Claim("drx_executor", 2, "a store writes bytes of the destination alone", 4, 6, 4),
    Claim("drx_executor", 3, "a load writes bytes of the scratchpad alone", 4, 6, 4),
    Claim("drx_executor", 4, "a store reads bytes of the scratchpad alone", 4, 6, 4),
    Claim("transfer_cutter", 1, "beats are the bytes of a transfer, in their order", 6, 9, 6),
    Claim("transfer_cutter", 2, "each is where it belongs in the scratchpad", 6, 9, 6),
    Claim("transfer_cutter", 3, "the last one ends the transfer, and no other", 6, 9, 6),
    Claim("drx_control", 1, "a program ends, or is stopped at its limit", 24, 40, 30),
    Claim("drx_control", 2, "what was begun is given up until nothing is under way", 12, 20, 12),
    Claim("drx_control", 3, "no program that has ended is told to have been stopped", 16, 24, 16),
)


class TestDrx(Proofs):
    """For any programs, ranges and neighbours."""

    claims = CLAIMS
    sources = SOURCES
