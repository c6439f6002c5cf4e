"""Bounded proofs of the blocks that all units stand on: nothing is lost, mixed up or told too soon."""

from __future__ import annotations

from bounded_proofs import Claim, Proofs, Source, needs_yosys

pytestmark = needs_yosys

COPY = Source.of("stream-copy", {"port-bytes": 16, "stream-bytes": 16, "outstanding": 4, "command-queue": 1})

COMPARED = "4 s; every simulation of a unit compares its bytes, their number and what memory was asked for"

CLAIMS = (
    Claim("tag_allocator", 1, "a tag is offered only while it is not in use", 12, 24, 10),
    Claim("tag_allocator", 2, "a tag is offered when none is in use", 12, 24, 10),
    Claim("tag_allocator", 3, "idle says that none is in use", 12, 24, 10),
    Claim("reorder_buffer", 1, "no more beats come out than were reserved", 12, 16, 10),
    Claim("reorder_buffer", 2, "beats come out in order, as they were answered", 11, 13, 12),
    Claim("reorder_buffer", 3, "a slot is offered only when its answer has come", 12, 16, 12),
    Claim("reorder_buffer", 4, "a beat that was answered comes out in the end", 12, 16, 12),
    Claim("reorder_buffer", 5, "quiet says that no answer is awaited", 12, 16, 10),
    Claim("stream_loader", 1, "what is offered is what memory has, byte by byte", 10, 11, 12),
    Claim("stream_loader", 2, "only beats that hold a byte of the range are asked for", 8, 10, 12, COMPARED),
    Claim("stream_loader", 3, "the end comes with the last bytes", 11, 13, 14),
    Claim("stream_loader", 4, "a tag is used again when it was answered", 12, 14, 14),
    Claim("stream_loader", 5, "what memory refused is not offered", 11, 13, 14),
    Claim("stream_loader", 6, "bytes, the end or a fault are offered in the end", 12, 14, 14),
    Claim("stream_loader", 7, "idle says that no answer is awaited", 12, 14, 14),
    Claim("stream_writer", 1, "a byte is written where it belongs", 8, 10, 8),
    Claim("stream_writer", 2, "nothing but what was given is written", 9, 10, 9),
    Claim("stream_writer", 3, "the result says how many bytes were written", 11, 13, 11, COMPARED),
    Claim("stream_writer", 4, "the result comes when every write was answered", 11, 13, 11),
    Claim("stream_writer", 5, "the result says whether memory refused a write", 11, 13, 11),
    Claim("stream_writer", 6, "every byte that had room is written by then", 11, 12, 13, COMPARED),
    Claim("stream_writer", 7, "the result comes in the end", 14, 16, 14),
    Claim("stream_writer", 8, "a byte is written once, with a tag that is free", 11, 12, 15),
    Claim("memory_arbiter", 1, "memory is asked what one port asks", 8, 12, 8),
    Claim("memory_arbiter", 2, "an answer goes to the port that asked", 8, 12, 8),
    Claim("memory_arbiter", 3, "a port waits for one request of the other at most", 8, 12, 8),
    Claim("command_router", 1, "no more answers are given than were asked for", 14, 18, 16),
    Claim("command_router", 2, "answers come in the order of their commands", 14, 18, 16),
    Claim("command_router", 3, "idle says that no answer is owed", 14, 18, 16),
    Claim("command_router", 4, "idle says that no operation is under way", 14, 18, 16),
    Claim("command_router", 5, "idle says that no answer of memory is awaited", 14, 18, 16),
)


class TestAccess(Proofs):
    """For any data and addresses, whatever memory and its user do."""

    claims = CLAIMS
    sources = dict.fromkeys((claim.fixture for claim in CLAIMS), COPY)
