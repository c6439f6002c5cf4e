"""Bounded proofs of the page-fault unit: a frame is handed back once, and no page that leaves is lost."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rackwright.synthesis.flow import load_design
from rackwright.synthesis.library import DEFAULT_LIBERTY
from rackwright.synthesis.tools import program

CLAIMS = Path(__file__).parent / "fixtures" / "eviction_slots.sv"
SMALLEST = {"faults": 2, "evictions": 2, "queue-entries": 8, "outstanding": 16}
DEPTH = 10
"""Cycles, of which the first is the reset."""

SCRIPT = """read_verilog -formal -sv {slots} {claims}
chparam -set FAULT {fault} Claims
prep -top Claims -flatten
sat -seq {depth} -set-at 1 reset 1 {running} -prove-skip 1 -prove-asserts -set-assumes {expectation}
"""


@pytest.mark.skipif(not DEFAULT_LIBERTY.exists(), reason="the tools of synthesis are missing")
@pytest.mark.parametrize(
    ("fault", "expectation"), [(0, "-verify"), (1, "-falsify")], ids=["holds", "seeded fault"]
)
def test_eviction_slots_hand_frames_back_once_and_lose_no_page(
    fault: int, expectation: str, tmp_path: Path
) -> None:
    slots = tmp_path / "slots.sv"
    slots.write_text(load_design("page-fault", SMALLEST).modules["EvictionSlots"].text, encoding="utf-8")
    running = " ".join(f"-set-at {cycle} reset 0" for cycle in range(2, DEPTH + 1))
    script = tmp_path / "prove.ys"
    text = SCRIPT.format(
        slots=slots, claims=CLAIMS, fault=fault, depth=DEPTH, running=running, expectation=expectation
    )
    script.write_text(text, encoding="utf-8")
    result = subprocess.run(
        [program("yosys"), "-q", str(script)], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
