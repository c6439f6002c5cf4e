"""Bounded proofs of the page-fault unit: no frame is handed out twice, and no page and no frame is lost."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import pytest

from rackwright.designs import Elaboration
from rackwright.synthesis.flow import load_designs
from rackwright.synthesis.library import DEFAULT_LIBERTY
from rackwright.synthesis.tools import program

FIXTURES = Path(__file__).parent / "fixtures"
SMALLEST = {"faults": 2, "evictions": 2, "queue-entries": 8, "outstanding": 16}


@dataclass(frozen=True)
class Claim:
    """A claim of a fixture, by its number there.

    It is proved over so many `cycles`, of which the first is the reset, and over `more` in a long run. The
    fault that is seeded for it is noticed within `noticed`.
    """

    fixture: str
    number: int
    what: str
    cycles: int
    more: int
    noticed: int


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

SCRIPT = """read_verilog -formal -sv {design} {claims}
chparam -set CLAIM {claim} -set FAULT {fault} Claims
prep -top Claims -flatten
memory_map
sat -seq {cycles} -set-at 1 reset 1 {running} -prove-skip 1 -prove-asserts -set-assumes {expectation}
"""

pytestmark = pytest.mark.skipif(not DEFAULT_LIBERTY.exists(), reason="the tools of synthesis are missing")


@cache
def rtl() -> str:
    """All modules of the smallest unit."""
    [design] = load_designs([Elaboration("page-fault", SMALLEST)])
    return "\n".join(module.text for module in design.modules.values())


def prove(
    folder: Path,
    claim: Claim,
    cycles: int,
    *,
    fault: int = 0,
    expectation: Literal["-verify", "-falsify"] = "-verify",
) -> None:
    """Has yosys decide over all inputs; fails when that is not what is expected."""
    design, script = folder / "design.sv", folder / "prove.ys"
    design.write_text(rtl(), encoding="utf-8")
    text = SCRIPT.format(
        design=design,
        claims=FIXTURES / f"{claim.fixture}.sv",
        claim=claim.number,
        fault=fault,
        cycles=cycles,
        running=" ".join(f"-set-at {cycle} reset 0" for cycle in range(2, cycles + 1)),
        expectation=expectation,
    )
    script.write_text(text, encoding="utf-8")
    result = subprocess.run(
        [program("yosys"), "-q", str(script)], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr


EACH = [pytest.param(claim, id=f"{claim.fixture}: {claim.what}") for claim in CLAIMS]


@pytest.mark.parametrize("claim", EACH)
def test_a_claim_holds(claim: Claim, tmp_path: Path) -> None:
    """For any frame, page and place, whatever comes from outside."""
    prove(tmp_path, claim, claim.cycles)


@pytest.mark.parametrize("claim", EACH)
def test_a_seeded_fault_is_noticed(claim: Claim, tmp_path: Path) -> None:
    """By the claim alone: what it speaks of happens within so few cycles."""
    prove(tmp_path, claim, claim.noticed, fault=claim.number, expectation="-falsify")


@pytest.mark.long
@pytest.mark.parametrize("claim", EACH)
def test_a_claim_holds_for_longer(claim: Claim, tmp_path: Path) -> None:
    """As far as a minute or so allows."""
    prove(tmp_path, claim, claim.more)
