"""Bounded proofs of a PCI Express function: no tag lost or used twice, no byte outside of its ranges."""

from __future__ import annotations

import pytest
from bounded_proofs import Claim, Proofs, Source, needs_yosys

pytestmark = [
    needs_yosys,
    pytest.mark.long("a design of their own, and up to half a minute of a processor each"),
]

TRAFFIC = Source("traffic", (("tags", 2), ("read-bytes", 128), ("packets", 2)))

CLAIMS = (
    Claim(
        "pcie_writes", 1, "a write is in its range, behind the one before, and in no two payloads", 10, 14, 8
    ),
    Claim("pcie_writes", 2, "each beat of data leaves once, in order", 14, 20, 8),
    Claim("pcie_writes", 3, "a range is done with its last bytes", 14, 17, 8),
    Claim("pcie_writes", 4, "a packet has the beats that its header says", 14, 20, 8),
    Claim("pcie_reads", 1, "a tag is used again only when its read has ended", 12, 18, 10),
    Claim(
        "pcie_reads", 2, "a read is in its range, behind the one before, and in no two requests", 8, 12, 10
    ),
    Claim("pcie_reads", 3, "a range gives as many beats as it has", 12, 16, 14),
    Claim("pcie_reads", 4, "a beat is what the completion of its read has brought", 12, 16, 14),
    Claim("pcie_messages", 1, "a message is the write that software has chosen", 8, 12, 8),
    Claim("pcie_messages", 2, "a vector is sent only when it was raised, and may be", 20, 40, 8),
    Claim("pcie_messages", 3, "and then it is", 20, 40, 8),
    Claim("pcie_messages", 4, "a message is a header and a word", 20, 40, 8),
)


class TestPcie(Proofs):
    """Whatever the fabric answers, whenever it takes packets."""

    claims = CLAIMS
    sources = dict.fromkeys((claim.fixture for claim in CLAIMS), TRAFFIC)
