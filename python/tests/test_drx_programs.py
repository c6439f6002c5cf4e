"""Programs of DRX as text and as words: the assembler and the disassembler are each other's inverse."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackwright.drx import Program
from rackwright.drx.instruction import Instruction, decode
from rackwright.drx.isa import isa
from rackwright.drx.program import Builder
from rackwright.errors import RackwrightError


@st.composite
def instructions(draw: st.DrawFn) -> Instruction:
    """Any instruction with any values of its fields."""
    function = draw(st.sampled_from(sorted(isa().functions)))
    fields = isa().functions[function].fields
    values = {field.name: draw(st.integers(field.range.start, field.range.stop - 1)) for field in fields}
    return Instruction(function, values)


@given(st.lists(instructions(), max_size=8))
def test_there_and_back(drawn: list[Instruction]) -> None:
    program = Program(drawn)
    assert Program.from_text(str(program)) == program
    assert Program.from_bytes(program.to_bytes()) == program


@given(st.integers(0, 2**32 - 1))
def test_every_word_is_an_instruction_or_refused(word: int) -> None:
    functions = {function.opcode for function in isa().functions.values()}
    if word & 0xFC00_0000 in functions:
        used = sum(field.put(-1) for field in decode(word & 0xFC00_0000).function.fields)
        if not word & 0x03FF_FFFF & ~used:
            assert decode(word).word == word
            return
    with pytest.raises(RackwrightError, match=f"^{word:#010x} "):
        decode(word)


@given(st.sampled_from(["base", "stride", "format"]), st.integers(-(2**31), 2**31 - 1))
def test_values_of_all_bits(name: str, value: int) -> None:
    builder = Builder()
    builder.set(name, value)
    *upper, last = builder.program.instructions
    bits = next(field for field in last.function.fields if field.name == "value").bits
    own = last.values["value"]
    whole = upper[0].values["value"] << bits | own & ((1 << bits) - 1) if upper else own
    assert whole & 0xFFFF_FFFF == value & 0xFFFF_FFFF


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("fly", "line 1: no instruction fly; there are upper, base"),
        ("end\n\nmove up=1", "line 3: move has no up; it has destination, first, second, ends"),
        ("move first=16", "line 1: move: first is 16, not from 0 to 15"),
        ("move first", "line 1: first is not FIELD=VALUE"),
        ("base value=x # a comment", "line 1: value=x is not FIELD=VALUE"),
    ],
)
def test_mistakes_have_a_line(text: str, complaint: str) -> None:
    with pytest.raises(RackwrightError, match=complaint):
        Program.from_text(text)


def test_bytes_that_are_no_program() -> None:
    with pytest.raises(RackwrightError, match="5 bytes is not a multiple of the size of an instruction"):
        Program.from_bytes(bytes(5))
    with pytest.raises(RackwrightError, match="instruction 1: 0xbc000000 is no instruction"):
        Program.from_bytes(Program.from_text("end").to_bytes() + (0xBC00_0000).to_bytes(4, "little"))
    with pytest.raises(RackwrightError, match="has bits that end does not use"):
        Program.from_bytes((Program.from_text("end").words[0] | 1 << 25).to_bytes(4, "little"))
