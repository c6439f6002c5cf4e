"""Bounded proofs of blocks in RTL: claims that yosys decides over all inputs of so many cycles."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

import pytest

from rackwright.designs import Elaboration
from rackwright.synthesis.flow import Design, load_designs
from rackwright.synthesis.library import DEFAULT_LIBERTY
from rackwright.synthesis.tools import program
from rackwright.synthesis.verilog import Module

FIXTURES = Path(__file__).parent / "fixtures"

SCRIPT = """read_verilog -formal -sv {design}
chparam -set CLAIM {claim} -set FAULT {fault} Claims
prep -top Claims -flatten
memory_map
sat -seq {cycles} -set-at 1 reset 1 {running} -prove-skip 1 -prove-asserts -set-assumes {expectation}
"""

needs_yosys = pytest.mark.skipif(not DEFAULT_LIBERTY.exists(), reason="the tools of synthesis are missing")


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


@dataclass(frozen=True)
class Source:
    """The unit whose modules claims are about, as small as it gets."""

    unit: str
    parameters: tuple[tuple[str, int], ...]

    @staticmethod
    def of(unit: str, parameters: Mapping[str, int]) -> Source:
        """The unit with those parameters."""
        return Source(unit, tuple(parameters.items()))


@cache
def _design(source: Source) -> Design:
    [design] = load_designs([Elaboration(source.unit, dict(source.parameters))])
    return design


def _rtl(source: Source, claims: Module) -> str:
    """The claims, and the modules of the unit that stand in them."""
    unit = _design(source)
    design = replace(unit, modules={**unit.modules, claims.name: claims}, top=claims.name)
    return "\n".join(design.modules[name].text for name, copies in design.copies.items() if copies)


def each(claims: Sequence[Claim]) -> list[Any]:
    """Parameters of a test of each claim."""
    return [pytest.param(claim, id=f"{claim.fixture}: {claim.what}") for claim in claims]


def prove(source: Source, folder: Path, claim: Claim, cycles: int) -> None:
    """Fails when the claim does not hold for all inputs over so many cycles."""
    _decide(source, folder, claim, cycles, 0, "-verify")


def notice(source: Source, folder: Path, claim: Claim) -> None:
    """Fails when the claim alone does not notice its seeded fault within as many cycles as it says."""
    _decide(source, folder, claim, claim.noticed, claim.number, "-falsify")


def _decide(
    source: Source,
    folder: Path,
    claim: Claim,
    cycles: int,
    fault: int,
    expectation: Literal["-verify", "-falsify"],
) -> None:
    design, script = folder / "design.sv", folder / "prove.ys"
    claims = Module("Claims", (FIXTURES / f"{claim.fixture}.sv").read_text(encoding="utf-8"))
    design.write_text(_rtl(source, claims), encoding="utf-8")
    text = SCRIPT.format(
        design=design,
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
