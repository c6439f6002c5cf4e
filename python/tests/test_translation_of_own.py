"""Translation around units in SystemVerilog that people bring, on page tables of our own making."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from page_tables import PAGE, READ, USED, PageTables

from bootstrap.paths import REPOSITORY
from rackwright import RackwrightError, Unit
from rackwright.verilog.translated import translated_manifest

OWN = REPOSITORY / "examples" / "bring-your-own" / "systemverilog"
COUNT, RESULT, STATUS, FAULT = 0, 1, 2, 127
OK, ACCESS_FAULT = 0, 4
VIRTUAL, PHYSICAL = 0x10_0000, 0x8000_0000
PAGES = 6
NOISE = random.Random(3).randbytes(PAGES * PAGE)


def copy_of_the_design(folder: Path, **changes: Any) -> Path:
    """The manifest of a unit that counts ones, with other clock, parameters or idle."""
    text = (OWN / "PopulationCount.sv").read_text(encoding="utf-8")
    (folder / "Count.sv").write_text(text.replace("if (reset)", "if (!reset)"), encoding="utf-8")
    record = json.loads((OWN / "manifest.json").read_text(encoding="utf-8"))
    record |= {"verilog": ["Count.sv"], **changes}
    record["clocks"][0]["active"] = "low"
    manifest = folder / "manifest.json"
    manifest.write_text(json.dumps(record), encoding="utf-8")
    return manifest


def count(unit: Unit, address: int, length: int) -> tuple[int, int]:
    """Ones and the status."""
    unit.command(COUNT, address, length)
    return unit.query(RESULT), unit.query(STATUS)


def test_it_counts_on_pages_that_lie_anywhere_and_names_a_missing_one(tmp_path: Path) -> None:
    unit = Unit(translated_manifest(copy_of_the_design(tmp_path), {"OUTSTANDING": 4}), check_idle=True)
    tables = PageTables(unit, 39, 0x4000_0000)
    order = random.Random(1).sample(range(40), PAGES)
    for index, place in enumerate(order):
        physical = PHYSICAL + place * PAGE
        unit.bench.allow(physical, PAGE, "r")
        unit.bench.write_memory(physical, NOISE[index * PAGE : (index + 1) * PAGE])
        tables.map(VIRTUAL + index * PAGE, physical, USED | READ)
    unit.bench.set_context(tables.satp, 0, False, False)
    length = PAGES * PAGE - 9
    ones = sum(byte.bit_count() for byte in NOISE[5 : 5 + length])
    assert count(unit, VIRTUAL + 5, length) == (ones, OK)
    missing = VIRTUAL + 3 * PAGE
    tables.put(missing, 0)
    # What was translated before holds until a fence.
    assert count(unit, VIRTUAL + 5, length) == (ones, OK)
    unit.bench.fence()
    assert count(unit, VIRTUAL + 5, length)[1] == ACCESS_FAULT
    assert unit.query(FAULT) == missing | 1
    tables.map(missing, PHYSICAL + order[3] * PAGE, USED | READ)
    assert count(unit, VIRTUAL + 5, length) == (ones, OK)
    assert unit.violations == 0


def test_the_same_unit_is_elaborated_once_and_another_value_is_another_unit(tmp_path: Path) -> None:
    manifest = copy_of_the_design(tmp_path)
    made = translated_manifest(manifest, {})
    assert translated_manifest(manifest, {}) == made
    assert translated_manifest(made, {}) == made
    assert translated_manifest(manifest, {"OUTSTANDING": 2}) != made


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"idle": None}, "unit population-count has no idle output"),
        ({"ports": [{"contract": "command", "name": "command", "opcodes": [3]}]}, "has no memory port"),
        (
            {
                "ports": [
                    {"contract": "command", "name": "command", "opcodes": [3]},
                    {"contract": "stream", "name": "frames", "direction": "in", "bytes": 8},
                ]
            },
            "a port of the contract stream can't be given virtual addresses",
        ),
        ({"parameters": {"WIDTH": 3}}, "has no parameter WIDTH"),
    ],
)
def test_what_cannot_be_translated_is_one_line(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(RackwrightError, match=said) as raised:
        translated_manifest(copy_of_the_design(tmp_path, **changes), {})
    assert "\n" not in str(raised.value)
