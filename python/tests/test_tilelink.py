"""Units that people bring with ports of TileLink: their registers, their memory, and the rules."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from tiers import long

from rackwright import EngineError, Server, Unit, compile_program
from rackwright.verilog.scan import scan

SOURCE = Path(__file__).parent / "fixtures" / "TileCopy.sv"
BUSY, REFUSED = 1, 2


def copier(folder: Path, old: str = "", new: str = "") -> Path:
    """The manifest that a scan of the copier writes, with a text in the place of another."""
    text = SOURCE.read_text(encoding="utf-8")
    assert old in text
    changed = text.replace(old, new) if old else text
    (folder / "TileCopy.sv").write_text(changed, encoding="utf-8")
    manifest = folder / "manifest.json"
    found = scan([folder / "TileCopy.sv"], folder).manifest
    manifest.write_text(json.dumps(found), encoding="utf-8")
    return manifest


def copied(unit: Unit, source: int, destination: int, length: int) -> int:
    """Has bytes copied; returns the control register at the end."""
    for register, value in ((4, source), (8, destination), (12, length), (0, 1)):
        unit.write_register(register, value)
    while (control := unit.read_register(0)) & BUSY:
        pass
    return control


def test_ports_of_tilelink_are_recognised() -> None:
    found = scan([SOURCE], SOURCE.parent)
    registers, memory = found.manifest["ports"]
    shared = {"contract": "tilelink", "denied": True}
    assert registers == {
        **shared,
        "name": "regs",
        "direction": "in",
        "naming": "lower",
        "bytes": 4,
        "address_bits": 8,
        "size_bits": 2,
        "source_bits": 5,
    }
    assert memory == {
        **shared,
        "name": "mem",
        "direction": "out",
        "naming": "elaborated",
        "bytes": 8,
        "address_bits": 32,
        "size_bits": 4,
        "source_bits": 2,
        "corrupt": True,
    }
    assert found.remarks == [
        "regs: a TileLink manager, 32 bits: registers",
        "mem: a TileLink client, 64 bits: memory",
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("output logic [1:0]  regs_d_size,", "", "regs: a TileLink manager without regs_d_size; connect it"),
        (
            "input  logic        mem_d_bits_sink,",
            "input logic mem_d_bits_sink, input logic mem_b_valid,",
            "mem: a TileLink client with a cache (mem_b_valid), which cannot be attached",
        ),
        (
            "input  logic [31:0] regs_a_data",
            "input  logic [127:0] regs_a_data",
            "regs: a TileLink manager of 128 bits and addresses of 8, which cannot be attached",
        ),
    ],
)
def test_what_of_tilelink_cannot_be_attached_is_said(tmp_path: Path, old: str, new: str, said: str) -> None:
    text = SOURCE.read_text(encoding="utf-8")
    assert old in text
    ports = text.replace(old, new, 1).split(");\n", 1)[0]
    (tmp_path / "TileCopy.sv").write_text(f"{ports});\nendmodule\n", encoding="utf-8")
    remarks = scan([tmp_path / "TileCopy.sv"], tmp_path).remarks
    assert any(remark.startswith(said) for remark in remarks), remarks


def test_memory_is_copied_by_operations_of_one_beat_and_of_several(tmp_path: Path) -> None:
    unit = Unit(copier(tmp_path))
    for length, source, destination in ((8, 0, 8), (64, 0, 0), (3, 8, 16), (1000, 64, 128), (133, 0, 8)):
        data = random.Random(length).randbytes(length)
        there = unit.load(data, misalignment=source)
        here = unit.reserve(length, misalignment=destination)
        assert copied(unit, there.address, here.address, length) == 0
        assert unit.read(here) == data
    assert unit.violations == 0
    # One read, of a whole operation, and one write are refused.
    outside = unit.reserve(64)
    assert copied(unit, 0x1000, outside.address, 64) == REFUSED
    assert copied(unit, unit.load(bytes(8)).address, 0x1000, 8) == REFUSED
    assert unit.violations == 9
    unit.read_register(0x20)
    with pytest.raises(EngineError, match="regs: it answers with an error to a read of 0x20"):
        unit.read_register(0)


def test_a_program_accesses_parts_of_registers_behind_tilelink(tmp_path: Path) -> None:
    source = tmp_path / "parts.c"
    source.write_text(
        "#include <stdint.h>\n#include <string.h>\n"
        'static _Alignas(64) char from[136] = "a word", to[136];\n'
        "int main(void) { volatile uint8_t *bytes = (uint8_t *)(1ull << 40);\n"
        "  volatile uint32_t *words = (volatile uint32_t *)bytes;\n"
        "  words[1] = 0x44332211; bytes[6] = 0x99; *(volatile uint16_t *)(bytes + 4) = 0xabcd;\n"
        "  if (words[1] != 0x4499abcd || bytes[7] != 0x44) return 1;\n"
        "  from[135] = 7; words[1] = (uint32_t)(uintptr_t)from; words[2] = (uint32_t)(uintptr_t)to;\n"
        "  words[3] = sizeof from; words[0] = 1;\n"
        "  while (words[0] & 1) { }\n"
        "  return words[0] == 0 && memcmp(from, to, sizeof from) == 0 ? 0 : 2; }\n"
    )
    program = compile_program([source], tmp_path / "parts.elf")
    assert Server("rocket", [copier(tmp_path)]).run(program).exit_code == 0


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "state == ASK ? places[1] : places[2]",
            "state == ASK ? places[1] : places[2] + 32'(beat)",
            "mem: A changes within an operation of several beats",
        ),
        long(
            "state == WRITE ? lanes : 8'hff", "8'h7f", "mem: A has a mask without all lanes", why="a design"
        ),
        long(
            "places[1][31:6], 6'b0",
            "places[1][31:6], 6'b1",
            "mem: A asks for an address that is no multiple of the size",
            why="a design",
        ),
        long("writes ? 3'd0 : 3'd1", "3'd1", "regs: it answers with another opcode", why="a design"),
    ],
)
def test_a_unit_that_breaks_a_rule_of_tilelink_is_stopped(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    unit = Unit(copier(tmp_path, old, new))
    there, here = unit.load(bytes(64)), unit.reserve(64)
    with pytest.raises(EngineError, match=f"unit `tile-copy` stopped at .*: {said}"):
        copied(unit, there.address, here.address, 64)
