"""Buses that are packed structures: recognised, given pins, and in use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rackwright import EngineError, Unit
from rackwright.unit.config import UnitConfig
from rackwright.verilog.known import Known
from rackwright.verilog.scan import Scan, scan

SOURCE = Path(__file__).parent / "fixtures" / "PackedAdder.sv"


def scanned(folder: Path, old: str = "", new: str = "", known: Known | None = None) -> Scan:
    """What a scan of the adder finds, with a text in the place of another."""
    text = SOURCE.read_text(encoding="utf-8")
    assert old in text
    (folder / SOURCE.name).write_text(text.replace(old, new) if old else text, encoding="utf-8")
    found = scan([folder / SOURCE.name], folder, known)
    found.write(folder / "manifest.json")
    return found


def test_a_unit_is_reached_by_structures_as_by_pins(tmp_path: Path) -> None:
    found = scanned(tmp_path)
    assert json.loads((tmp_path / "manifest.json").read_text()) == found.manifest
    registers, memory, line = found.manifest["ports"]
    assert (registers["contract"], registers["name"], registers["denied"]) == ("tilelink", "tl", True)
    assert (memory["contract"], memory["name"], memory["id_bits"]) == ("axi4", "axi", 2)
    assert line["pin"] == "irq_o"
    structures = "axi_req_o, axi_resp_i, tl_i, tl_o: packed structures; PackedAdder_pins.sv gives them pins"
    assert structures in found.remarks
    assert "tl_a_user_rsvd: 5 bits of no known bus; the input stays 0" in found.remarks
    unit = Unit(UnitConfig(str(tmp_path / "manifest.json"), {"KEY": 9}))
    words = unit.load((7).to_bytes(8, "little") + (2**40).to_bytes(8, "little"), "rw")
    assert unit.read_register(8) == 9
    unit.write_register(4, words.address + 8)
    unit.await_interrupt()
    assert (unit.read_register(0), unit.read_register(4)) == (1, words.address + 8)
    assert unit.read(words) == (7).to_bytes(8, "little") + (2**40 + 9).to_bytes(8, "little")
    assert unit.violations == 0
    unit.read_register(12)
    with pytest.raises(EngineError, match="tl: it answers with an error to a read of 0xc"):
        unit.read_register(0)


def test_structures_that_are_no_bus_stay_pins_and_parts_of_one_are_said(tmp_path: Path) -> None:
    found = scanned(tmp_path, "output logic       irq_o", "output user_t irq_o")
    assert found.manifest["ports"][-1]["name"] == "axi"
    assert "irq_o: interrupts of 5 bits lead nowhere" in found.remarks
    assert "irq_o" not in next(remark for remark in found.remarks if "packed structures" in remark)
    lacking = scanned(tmp_path, "d_size", "d_length")
    assert [port["name"] for port in lacking.manifest["ports"]] == ["axi", "irq_o"]
    assert any("a TileLink manager without tl_d_size" in remark for remark in lacking.remarks)


CHECKED = """module tlul_cmd_intg_gen (input tile_pkg::to_device_t tl_i, output tile_pkg::to_device_t tl_o);
    always_comb begin
        tl_o = tl_i;
        tl_o.a_user.cmd_intg = ~^tl_i.a_address;
    end
endmodule
"""


def checked(folder: Path) -> Scan:
    """A scan of the adder with check bits in requests, and of the module that makes them."""
    text = SOURCE.read_text(encoding="utf-8").replace(
        "logic [4:0] rsvd;", "logic [3:0] instr_type; logic cmd_intg;"
    )
    checked = "asked.a_user == {4'h9, ~^asked.a_address} && asked.a_address inside"
    text = text.replace("asked.a_address inside", checked)
    (folder / "adder.sv").write_text(text, encoding="utf-8")
    (folder / "checks.sv").write_text(CHECKED, encoding="utf-8")
    return scan([folder / "adder.sv", folder / "checks.sv"], folder, Known(top="PackedAdder"))


def test_requests_with_check_bits_get_them_from_the_module_for_it(tmp_path: Path) -> None:
    (text,) = checked(tmp_path).files.values()
    assert "tlul_cmd_intg_gen tl_check (.tl_i({tl_a_valid, " in text
    assert "tl_a_data, 4'h9, tl_a_user_cmd_intg, tl_d_ready})" in text
    found = scan([tmp_path / "adder.sv"], tmp_path, Known(top="PackedAdder"))
    lacking = "tl_i: check bits of requests stay 0, as tlul_cmd_intg_gen is in none of the files"
    assert lacking in found.remarks


@pytest.mark.long("another design")
def test_a_unit_that_checks_requests_accepts_them(tmp_path: Path) -> None:
    checked(tmp_path).write(tmp_path / "manifest.json")
    assert Unit(tmp_path / "manifest.json").read_register(8) == 5
