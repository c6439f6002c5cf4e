"""Bounded proofs of the network unit: no byte of one frame in another, no datagram at another's port."""

from __future__ import annotations

import pytest
from bounded_proofs import Claim, Proofs, Source, needs_yosys

pytestmark = [needs_yosys, pytest.mark.long("up to some minutes of a processor each")]

PARAMETERS = (("bindings", 2), ("assemblies", 2))
STREAMS = Source("network", PARAMETERS, memories=(("ram_2048x69", (4, 3, 2, 1, 0)),))
"""As many words as flits come within the cycles of the proofs."""
FRAGMENTS = Source("network", PARAMETERS, memories=(("ram_4096x64", (11, 3, 2, 1, 0)),))
"""Sixteen words for each datagram: the fixture has no fragment of others."""

CLAIMS = (
    Claim("frame_buffer", 1, "flits of kept frames leave in their order, as they were", 16, 18, 12),
    Claim("frame_buffer", 2, "no flit leaves of a frame that is not whole, or lost", 16, 22, 12),
    Claim("frame_buffer", 3, "a whole frame leaves within four cycles", 16, 22, 12),
    Claim("frame_buffer", 4, "it is idle only without whole frames", 16, 22, 8),
    Claim("reassembler", 1, "no word of a datagram is of another, or of another place", 20, 24, 20),
    Claim("reassembler", 2, "or of a fragment that was bad", 20, 24, 20),
    Claim("reassembler", 3, "a datagram ends where its length says", 20, 24, 20),
    Claim("reassembler", 4, "and leaves without another one within it", 20, 24, 20),
    Claim("reassembler", 5, "each fragment has one outcome", 20, 24, 10),
    Claim("udp_receive", 1, "a datagram leaves through the stream to which its port is bound", 18, 22, 18),
    Claim("udp_receive", 2, "with its own data", 18, 22, 20),
    Claim("udp_receive", 3, "and no bad one does", 18, 22, 18),
)

SOURCES = {"frame_buffer": STREAMS, "udp_receive": STREAMS, "reassembler": FRAGMENTS}


class TestNetwork(Proofs):
    """Whatever arrives, whenever it is taken."""

    claims = CLAIMS
    sources = SOURCES
