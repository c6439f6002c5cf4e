"""What is ours in a chip, in gates."""

from __future__ import annotations

import pytest

from bootstrap.paths import REPOSITORY
from rackwright.soc import Soc
from rackwright.soc.synthesis import outermost, reachable, synthesise_soc

SOURCES = {
    "Top": "module Top(\n);\n  wire a; // @[x]\n  Left left ( // @[x]\n    .a(a)\n  );\nendmodule",
    "Left": "module Left(\n);\n  Box #(.W(4)) box (\n  );\n  Leaf a (\n  );\n  Leaf b (\n  );\nendmodule",
    "Leaf": "module Leaf(\n);\nendmodule",
    "Right": "module Right(\n);\n  Leaf leaf (\n  );\nendmodule",
}


def test_what_is_below_a_module_is_found_once() -> None:
    assert sorted(reachable(SOURCES, "Top")) == ["Leaf", "Left", "Top"]
    assert sorted(reachable(SOURCES, "Right")) == ["Leaf", "Right"]


def test_units_that_harts_share_are_within_what_they_share_them_by() -> None:
    sources = {
        "Top": "module Top(\n);\n  HartUnits own (\n  );\n  SharedUnits shared (\n  );\nendmodule",
        "HartUnits": "module HartUnits(\n);\n  Leaf leaf (\n  );\nendmodule",
        "HartUnits_1": "module HartUnits_1(\n);\n  Leaf leaf (\n  );\nendmodule",
        "SharedUnits": "module SharedUnits(\n);\n  HartUnits_1 units (\n  );\nendmodule",
    }
    assert outermost(sources) == ["HartUnits", "SharedUnits"]


MOST_FO4, MOST_AREA = 40, 0.08
"""The longest path of what connects units, and its area as a part of theirs."""


@pytest.mark.long("five minutes of a processor each: a chip is generated and mapped to gates")
@pytest.mark.parametrize(("chip", "module"), [("tiny", "HartUnits"), ("shared", "SharedUnits")])
def test_what_connects_a_unit_is_smaller_than_the_unit(chip: str, module: str) -> None:
    (found,) = synthesise_soc(Soc.load(REPOSITORY / "examples" / "soc" / f"{chip}.yaml"))
    assert found.module == module
    assert 0 < found.wrapper_mm2 <= MOST_AREA * found.units_mm2
    assert found.figures.area_mm2 == pytest.approx(found.wrapper_mm2 + found.units_mm2)
    path = found.wrapper_path
    assert path is not None
    assert path.depth_fo4 <= found.figures.depth_fo4
    assert path.depth_fo4 <= MOST_FO4
