"""Bounded proofs of the lookups of `store`: no value but that of the key, nothing outside of the region."""

from __future__ import annotations

import pytest
from bounded_proofs import Claim, Proofs, Source, needs_yosys

pytestmark = [needs_yosys, pytest.mark.long("about a minute of a processor each")]

STORE = Source("store", (("lookups", 2), ("outstanding", 4)))

CLAIMS = (
    Claim("store_lookups", 1, "an item is found only when memory has every word of the key", 28, 32, 32),
    Claim("store_lookups", 2, "and when it is sealed, with the key's length and hash", 28, 32, 32),
    Claim("store_lookups", 3, "and when its value ends in the item, which ends in the region", 28, 32, 32),
    Claim("store_lookups", 4, "outcomes come in the order of their starts, none twice", 20, 24, 24),
    Claim("store_lookups", 5, "nothing outside of the region is asked for", 24, 34, 34),
)


class TestStore(Proofs):
    """Whatever memory holds, whenever it answers."""

    claims = CLAIMS
    sources = dict.fromkeys((claim.fixture for claim in CLAIMS), STORE)
