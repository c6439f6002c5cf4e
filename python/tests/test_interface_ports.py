"""Ports that are interfaces of SystemVerilog: given pins, recognised, and in use."""

from __future__ import annotations

from pathlib import Path

import pytest

from rackwright import RackwrightError, Unit
from rackwright.unit.config import UnitConfig
from rackwright.verilog.known import Known
from rackwright.verilog.reader import VerilogDesign, VerilogSources
from rackwright.verilog.scan import Scan, scan

SOURCE = Path(__file__).parent / "fixtures" / "InterfaceAdder.sv"


def scanned(folder: Path, old: str = "", new: str = "") -> Scan:
    """What a scan of the adder finds, with a text in the place of another."""
    text = SOURCE.read_text(encoding="utf-8")
    assert old in text
    (folder / SOURCE.name).write_text(text.replace(old, new) if old else text, encoding="utf-8")
    found = scan([folder / SOURCE.name], folder)
    found.write(folder / "manifest.json")
    return found


def test_an_interface_with_a_modport_gets_pins(tmp_path: Path) -> None:
    found = scanned(tmp_path)
    line, registers = found.manifest["ports"]
    assert (registers["contract"], registers["name"], registers["address_bits"]) == ("axi4-lite", "bus", 6)
    assert line["pin"] == "irq"
    assert found.manifest["clocks"][0]["pin"] == "clk"
    assert found.remarks[0] == (
        "bus: interface lite_bus with its default parameters; InterfaceAdder_pins.sv gives it pins"
    )
    (text,) = found.files.values()
    assert "lite_bus bus (.clk_i(clk), .rst_ni(~rst));" in text
    read = VerilogDesign(VerilogSources.of_manifest(tmp_path / "manifest.json"))
    assert [complaint.text for complaint in read.complaints if complaint.is_error] == []
    # Without ports of its own, the design has the clock and the reset of its interface.
    alone = scanned(tmp_path, "    input logic clk,\n    input logic rst,\n", "")
    clock = alone.manifest["clocks"][0]
    assert (clock["pin"], clock["reset"], clock["active"]) == ("bus_clk_i", "bus_rst_ni", "low")


def test_two_ports_that_are_halves_of_a_bus_become_one(tmp_path: Path) -> None:
    ports = "input logic clk, input logic rst, lite_bus.writes s_axil_wr, lite_bus.reads s_axil_rd"
    (tmp_path / "halves.sv").write_text(f"module Halves ({ports}); endmodule\n", encoding="utf-8")
    found = scan([SOURCE, tmp_path / "halves.sv"], tmp_path, Known(top="Halves"))
    (port,) = found.manifest["ports"]
    assert (port["contract"], port["name"], port.get("direction")) == ("axi4-lite", "s_axil", None)
    (text,) = found.files.values()
    assert "assign s_axil_wr.aw_addr = s_axil_awaddr;" in text
    assert "assign s_axil_rdata = s_axil_rd.r_data;" in text


def test_parameters_of_an_interface_set_its_widths(tmp_path: Path) -> None:
    known = Known(parameters={"bus.ADDRESS": "10", "KEY": "5"})
    found = scan([SOURCE], tmp_path, known)
    assert found.manifest["ports"][1]["address_bits"] == 10
    assert found.manifest["parameters"] == {"KEY": 5}
    assert found.remarks[0].startswith("bus: interface lite_bus with ADDRESS=10; ")
    (text,) = found.files.values()
    assert "lite_bus #(.ADDRESS(10)) bus (" in text
    with pytest.raises(RackwrightError, match="lite_bus of bus has no parameter WIDTH; there are ADDRESS"):
        scan([SOURCE], tmp_path, Known(parameters={"bus.WIDTH": "3"}))
    with pytest.raises(RackwrightError, match="InterfaceAdder has no interface other; there are bus"):
        scan([SOURCE], tmp_path, Known(parameters={"other.WIDTH": "3"}))


@pytest.mark.parametrize(
    ("port", "reason"),
    [
        (
            "lite_bus more",
            "an interface lite_bus without a modport, which says directions; "
            "there are subordinate, writes, reads",
        ),
        ("lite_bus.subordinate more [2]", "an array of interfaces; connect it in a module around the design"),
        ("interface more", "an interface of any kind; connect it in a module around the design"),
    ],
)
def test_interfaces_of_which_no_pins_can_be_made_are_refused(tmp_path: Path, port: str, reason: str) -> None:
    with pytest.raises(RackwrightError) as refused:
        scanned(tmp_path, "    output logic irq", f"    {port},\n    output logic irq")
    assert str(refused.value) == f"module InterfaceAdder: more is {reason}"


@pytest.mark.long("another design")
def test_a_unit_is_reached_by_an_interface_as_by_pins(tmp_path: Path) -> None:
    scanned(tmp_path)
    unit = Unit(UnitConfig(str(tmp_path / "manifest.json"), {"KEY": 9}))
    assert unit.read_register(4) == 9
    unit.write_register(0, 11)
    assert unit.read_register(0) == 20
    unit.write_register(0, 71)
    unit.await_interrupt()
    assert unit.violations == 0
