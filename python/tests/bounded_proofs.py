"""Bounded proofs of blocks in RTL: claims that ABC decides over all inputs of so many cycles."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

import pytest
from tiers import long

from rackwright.hardware.designs import Elaboration
from rackwright.synthesis.flow import Design, load_designs
from rackwright.synthesis.library import DEFAULT_LIBERTY
from rackwright.synthesis.tools import program, run
from rackwright.synthesis.verilog import FirtoolModule

LATCHES = 3
"""Where the header of AIGER has their number."""

CHOSEN = re.compile(rb"^l(\d+) chosen\.(\S+)$", re.MULTILINE)
"""The name of a latch of `fixtures/case.sv`, among those at the end of the file."""

FIXTURES = Path(__file__).parent / "fixtures"

TRANSLATE = """read_verilog -formal -sv {folder}/design.sv
prep -top Claims -flatten
memory_map
opt -full -purge
dffunmap
setundef -undriven -anyseq
techmap
setundef -undriven -anyseq
opt_clean -purge
aigmap
write_aiger -symbols {folder}/design.aig
"""
"""Latches without an initial value have any; what is undefined has any value, a new one in each cycle."""

DECIDE = "read_aiger {aiger}; logic; undc; strash; zero; fold; bmc3 -F {cycles}"
"""Latches that begin with any value do so by an input (`undc`); what is assumed joins the claims (`fold`)."""

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
    left_out: str = ""
    """Why a short run does not prove it, where it does not."""


@dataclass(frozen=True)
class Source:
    """The unit whose modules claims are about, as small as it gets."""

    unit: str
    parameters: tuple[tuple[str, int], ...]
    command: str = "rocc"
    memories: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """Large memories, of which only the words are there that differ in these bits of their addresses."""

    @staticmethod
    def of(unit: str, parameters: Mapping[str, int]) -> Source:
        """The unit with those parameters."""
        return Source(unit, tuple(parameters.items()))


@cache
def _design(source: Source) -> Design:
    [design] = load_designs([Elaboration(source.unit, dict(source.parameters), source.command)])
    return design


@dataclass(frozen=True)
class Model:
    """A fixture and what it is about as gates and latches (AIGER), with all claims and faults."""

    header: bytes
    latches: tuple[bytes, ...]
    rest: bytes
    chosen: Mapping[str, int]

    @staticmethod
    def of(aiger: bytes) -> Model:
        """The model in a file."""
        header, rest = aiger.split(b"\n", 1)
        *latches, rest = rest.split(b"\n", int(header.split()[LATCHES]))
        chosen = {name.decode(): int(latch) for latch, name in CHOSEN.findall(aiger)}
        return Model(header, tuple(latches), rest, chosen)

    def choose(self, **numbers: int) -> bytes:
        """The file whose claim and fault have these numbers."""
        latches = list(self.latches)
        for name, number in numbers.items():
            for bit in range(4):
                latch = self.chosen[f"{name}_number[{bit}]"]
                following, _ = latches[latch].split(b" ")
                latches[latch] = b"%s %d" % (following, number >> bit & 1)
        return b"\n".join((self.header, *latches, self.rest))


@cache
def _model(source: Source, fixture: str) -> Model:
    unit = _design(source)
    files = {"Claims": fixture, "Case": "case"}
    modules = {
        name: FirtoolModule(name, (FIXTURES / f"{file}.sv").read_text(encoding="utf-8"))
        for name, file in files.items()
    }
    for name, bits in source.memories:
        modules[name] = FirtoolModule(name, _with_fewer_words(unit.modules[name].text, bits))
    design = replace(unit, modules={**unit.modules, **modules}, top="Claims")
    rtl = "\n".join(design.modules[name].text for name, copies in design.copies.items() if copies)
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "design.sv").write_text(rtl, encoding="utf-8")
        script = folder / "translate.ys"
        script.write_text(TRANSLATE.format(folder=folder), encoding="utf-8")
        run([program("yosys"), "-q", str(script)], folder / "yosys.log")
        return Model.of((folder / "design.aig").read_bytes())


def _with_fewer_words(memory: str, bits: tuple[int, ...]) -> str:
    """A memory's text, in which words whose addresses differ in no bit of `bits` are one.

    Whoever uses others of them finds what does not belong there, so that claims which hold need no others.
    """
    chosen = ", ".join(f"address[{bit}]" for bit in bits)
    header = f"function [{len(bits) - 1}:0] place(input [{max(bits)}:0] address);"
    function = f"  {header} place = {{{chosen}}}; endfunction"
    found = re.sub(r"Memory\[0:\d+\];", f"Memory[0:{(1 << len(bits)) - 1}];\n{function}", memory, count=1)
    return re.sub(r"Memory\[(\w+)\]", r"Memory[place(\1)]", found)


class Proofs:
    """Three tests of each claim, about the unit in `sources` that has the module of its fixture."""

    claims: ClassVar[tuple[Claim, ...]]
    sources: ClassVar[Mapping[str, Source]]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Each test is of one claim; a short run seeds the fault of the first claim of each fixture."""
        first = {claim.fixture: claim for claim in reversed(self.claims)}
        few = metafunc.function.__name__ == Proofs.test_a_seeded_fault_is_noticed.__name__
        why = "claims seldom change; one of each block"
        cases = [
            long(claim, why=claim.left_out or why, name=_name(claim))
            if claim.left_out or (few and claim is not first[claim.fixture])
            else pytest.param(claim, id=_name(claim))
            for claim in self.claims
        ]
        metafunc.parametrize("claim", cases)

    def test_a_claim_holds(self, claim: Claim, tmp_path: Path) -> None:
        """For any inputs, whatever its neighbours do."""
        prove(self.sources[claim.fixture], tmp_path, claim, claim.cycles)

    def test_a_seeded_fault_is_noticed(self, claim: Claim, tmp_path: Path) -> None:
        """By the claim alone: what it speaks of happens within so few cycles."""
        notice(self.sources[claim.fixture], tmp_path, claim)

    @pytest.mark.long("up to a minute each; the short run proves the same over fewer cycles")
    def test_a_claim_holds_for_longer(self, claim: Claim, tmp_path: Path) -> None:
        """As far as a minute or so allows."""
        prove(self.sources[claim.fixture], tmp_path, claim, claim.more)


def _name(claim: Claim) -> str:
    return f"{claim.fixture}: {claim.what}"


def prove(source: Source, folder: Path, claim: Claim, cycles: int) -> None:
    """Fails when the claim does not hold for all inputs over so many cycles."""
    said = _decide(source, folder, claim, cycles, 0)
    assert f"No output asserted in {cycles} frames" in said, said


def notice(source: Source, folder: Path, claim: Claim) -> None:
    """Fails when the claim alone does not notice its seeded fault within as many cycles as it says."""
    said = _decide(source, folder, claim, claim.noticed, claim.number)
    assert "was asserted in frame" in said, said


def _decide(source: Source, folder: Path, claim: Claim, cycles: int, fault: int) -> str:
    """What ABC says; what it is about stays in the folder, for a look at a case that it finds."""
    aiger = folder / "chosen.aig"
    aiger.write_bytes(_model(source, claim.fixture).choose(claim=claim.number, seeded=fault))
    command = [program("berkeley-abc"), "-c", DECIDE.format(aiger=aiger, cycles=cycles)]
    return run(command, folder / "abc.log")
