"""Bounded proofs of the page-fault unit: no frame is handed out twice, and no page and no frame is lost."""

from __future__ import annotations

from bounded_proofs import Claim, Proofs, Source, needs_yosys

pytestmark = needs_yosys

SMALLEST = Source.of("page-fault", {"faults": 2, "evictions": 2, "queue-entries": 8, "outstanding": 16})

CLAIMS = (
    Claim("fault_slots", 1, "a page is told only while its frame is held", 16, 20, 15),
    Claim("fault_slots", 2, "a frame goes back only while it is held", 16, 20, 12),
    Claim("fault_slots", 3, "an entry gets only a frame that is held", 16, 20, 16),
    Claim("fault_slots", 4, "the receiver writes only to a frame that is held", 16, 20, 16),
    Claim("fault_slots", 5, "a frame that is held is on its way, one for each slot", 16, 20, 10),
    Claim("fault_slots", 6, "a walk is answered once", 16, 20, 6),
    Claim("fault_slots", 7, "served is said of a page that is there and recorded", 12, 17, 8),
    Claim("fault_slots", 8, "entry and record are made of the entry that was read", 12, 17, 11),
    Claim("free_queue", 1, "no more frames come out than were given", 10, 12, 10),
    Claim("free_queue", 2, "frames come out as they were given, in order", 10, 12, 10),
    Claim("free_queue", 3, "a frame comes out in the end", 10, 12, 10),
    Claim("eviction_slots", 1, "a frame comes back only while it is held", 10, 12, 10),
    Claim("eviction_slots", 2, "stored is said only after an answer", 10, 12, 10),
    Claim("eviction_slots", 3, "what is sent is the page of its entry", 10, 12, 10),
    Claim("eviction_slots", 4, "a slot is free when fewer than two pages are held", 10, 12, 10),
)


class TestPageFault(Proofs):
    """For any frame, page and place, whatever comes from outside."""

    claims = CLAIMS
    sources = dict.fromkeys((claim.fixture for claim in CLAIMS), SMALLEST)
