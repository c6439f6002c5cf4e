"""Designs that people bring: their manifests, parameters, arguments and waves, and how they are scanned."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import rw

from bootstrap.paths import REPOSITORY
from rackwright import EngineError, RackwrightError, Server, Unit, compile_program
from rackwright.hardware.designs import ParameterValue
from rackwright.hardware.headers import server_header
from rackwright.hardware.manifests import main_clock, read_manifest
from rackwright.unit.config import UnitConfig, unit_configs
from rackwright.verilog.known import Known
from rackwright.verilog.parameters import check_parameters
from rackwright.verilog.scan import scan
from rackwright.verilog.translated import translated_manifest

GATHERED = REPOSITORY / "engine" / "crates" / "rtl" / "rtl" / "tests" / "fixtures" / "gathered"
OWN = REPOSITORY / "examples" / "bring-your-own" / "systemverilog"

SUM = 1000 + 5 + 100 + 0x22 + 20
"""What the unit answers to 1: of its base, parameter, C, file of data, and term."""


@pytest.fixture
def gathered(tmp_path: Path) -> Path:
    """The manifest of a copy of a design of many files."""
    shutil.copytree(GATHERED, tmp_path / "gathered")
    return tmp_path / "gathered" / "manifest.json"


AXI = REPOSITORY / "examples" / "bring-your-own" / "axi"
SUMS = Path(__file__).parent / "fixtures" / "Sums.sv"
CONTROL, SOURCE, DESTINATION, BYTES = 0x00, 0x10, 0x18, 0x20
DONE, IDLE, ERROR = 2, 4, 8


def answer(manifest: Path, parameters: dict[str, ParameterValue], *plusargs: str) -> int:
    return Unit(UnitConfig(str(manifest), parameters, plusargs=plusargs)).query("sum", 1)


def test_parameters_and_arguments_reach_the_design(
    gathered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert answer(gathered, {}) == SUM
    assert answer(gathered, {"EXTRA": "8'h0f"}, "ARGUMENT=300") == SUM + 10 + 300
    unit = Unit(UnitConfig(str(gathered), {"EXTRA": "10 + 5"}))
    assert (unit.query("sum", 1), unit.design.parameters) == (SUM + 10, {"EXTRA": 15})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"EXTRAS": 1}, "module Gathered has no parameter EXTRAS; there are EXTRA"),
        ({"EXTRA": "hello"}, "gathered cannot have EXTRA=hello: use of undeclared identifier 'hello'"),
        ({"EXTRA": 2**40}, f"gathered cannot have EXTRA={2**40}: "),
    ],
)
def test_parameters_that_cannot_be_are_refused(
    gathered: Path, given: dict[str, ParameterValue], said: str
) -> None:
    with pytest.raises(RackwrightError) as raised:
        answer(gathered, given)
    assert str(raised.value).startswith(f"{gathered}: {said}")
    assert "\n" not in str(raised.value)


def test_parameters_on_the_command_line_go_to_the_unit_of_that_name(gathered: Path) -> None:
    (config,) = unit_configs([str(gathered)], parameters={"gathered": {"EXTRA": "7"}}, plusargs=["A=1"])
    assert (config.parameters, config.plusargs) == ({"EXTRA": "7"}, ("A=1",))
    (config,) = unit_configs([str(gathered)], parameters={"": {"EXTRA": "7"}})
    assert config.parameters == {"EXTRA": "7"}
    with pytest.raises(RackwrightError, match="could belong to several units"):
        unit_configs([str(gathered), "snappy-compress"], parameters={"": {"EXTRA": "7"}})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("{", "{,", 1), "not a manifest: key must be a string at line 1"),
        (('"idle":', '"idel":', 1), "not a manifest: unknown field `idel`"),
        (("1000000000", "0", 1), "not a manifest: hertz of clock `clk`: "),
        (('"active": "low"', '"active": "lo"', 1), "not a manifest: unknown variant `lo`"),
        (('"rs1"', '"rs3"', 1), "not a manifest: unknown field `rs3`"),
        (('"EXTRA": 5', '"EXTRA": [5]', 1), "not a manifest: `EXTRA` is [5], neither a number nor a word"),
    ],
)
def test_what_is_no_manifest_is_told_in_one_line(
    gathered: Path, change: tuple[str, str, int], said: str
) -> None:
    gathered.write_text(gathered.read_text(encoding="utf-8").replace(*change), encoding="utf-8")
    with pytest.raises(EngineError) as raised:
        read_manifest(gathered)
    assert str(raised.value).startswith(f"{gathered}: {said}")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("data", ["@40\n11\n", "1\n2\n3\n4\n5\n", "11 2g\n"], ids=["beyond", "many", "digit"])
def test_data_that_a_memory_cannot_hold_end_the_run_and_not_the_process(gathered: Path, data: str) -> None:
    assert answer(gathered, {}) == SUM
    (gathered.parent / "rom.hex").write_text(data, encoding="utf-8")
    with pytest.raises(EngineError, match=r"unit `gathered` stopped at .*: rom\.hex") as raised:
        answer(gathered, {})
    assert "\n" not in str(raised.value)
    (gathered.parent / "rom.hex").write_text("11\n22\n", encoding="utf-8")
    assert answer(gathered, {}) == SUM


LOOPS = {
    "inverted": "assign irq = busy ? ~irq : 1'b0;",
    "handshake": "wire valid, ready; assign valid = busy & ~ready; assign ready = valid; assign irq = ready;",
    "counted": "logic [3:0] next; always_comb next = busy ? next + 1'b1 : '0; assign irq = next[0];",
}
"""Logic of a unit that depends on itself from some cycle on."""


@pytest.mark.long("a design for each")
@pytest.mark.parametrize("loop", LOOPS)
def test_loops_that_do_not_settle_end_the_run_and_not_the_process(tmp_path: Path, loop: str) -> None:
    (tmp_path / "Loop.sv").write_text(
        "module Loop(input logic clk, rst, output logic irq);\n"
        "logic [5:0] count; wire busy = count == 40;\n"
        "always_ff @(posedge clk) count <= rst ? '0 : count + 6'(!busy);\n"
        f"{LOOPS[loop]}\nendmodule\n",
        encoding="utf-8",
    )
    manifest = tmp_path / "manifest.json"
    manifest.write_text(json.dumps(scan([tmp_path / "Loop.sv"], tmp_path).manifest), encoding="utf-8")
    unit = Unit(manifest)
    with pytest.raises(EngineError, match=r"unit `loop` stopped at cycle 39: Loop\.sv:\d+: .*converge"):
        unit.await_interrupt(1000)


def test_a_manifest_is_described_as_a_unit_is(gathered: Path) -> None:
    shown = rw("units", gathered)
    assert shown.status == 0
    assert all(
        word in shown.stdout for word in ("gathered", "Gathered", "EXTRA", "sum", "a number", "command")
    )
    assert rw("units", gathered, "--json").json()["manifests"][str(gathered)]["top"] == "Gathered"
    gathered.write_text("{,}", encoding="utf-8")
    refused = rw("units", gathered)
    assert (refused.status, refused.stdout, refused.stderr.count("\n")) == (1, "", 1)


def test_waves_of_a_unit_are_written_without_a_word(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    unit = Unit(OWN / "manifest.json", waves=tmp_path / "unit.fst")
    for size in (0, 16, 100):
        buffer = unit.load(bytes(size))
        unit.command("count", buffer.address, buffer.length)
        assert (unit.query("result"), unit.query("status")) == (0, 0)
    del unit
    assert (tmp_path / "unit.fst").stat().st_size > 100
    assert capfd.readouterr() == ("", "")


def test_a_design_is_scanned_for_what_its_manifest_says(tmp_path: Path) -> None:
    found = scan([OWN / "PopulationCount.sv"], OWN)
    written = json.loads((OWN / "manifest.json").read_text(encoding="utf-8"))
    for part in ("format", "unit", "top", "verilog", "idle", "parameters"):
        assert found.manifest[part] == written[part]
    assert main_clock(found.manifest) == {**main_clock(written), "hertz": 1_000_000_000}
    command, *others = found.manifest["ports"]
    assert (command["contract"], command["name"]) == ("command", "command")
    assert others == written["ports"][1:]
    # What it wrote is a manifest, of which a unit can be built.
    path = tmp_path / "manifest.json"
    scanned = rw("units", "scan", OWN / "PopulationCount.sv", "-o", path)
    assert (scanned.status, scanned.stderr) == (0, "")
    unit = Unit(path)
    buffer = unit.load(b"\x07")
    unit.command(0, buffer.address, buffer.length)
    assert unit.query(1) == 3


def test_a_parameter_with_a_text_as_its_default_takes_a_bare_word(tmp_path: Path) -> None:
    (tmp_path / "Mode.sv").write_text(
        'module Mode #(parameter MODE = "SLOW", parameter string NAME = "none", parameter int WIDTH = 3)\n'
        "  (input logic clk, rst);\n"
        '  if (MODE != "VERY_FAST" || NAME != "one") $error("not what was asked for");\nendmodule\n',
        encoding="utf-8",
    )
    manifest = tmp_path / "manifest.json"
    described = {
        "format": 2,
        "unit": "mode",
        "top": "Mode",
        "verilog": ["Mode.sv"],
        "clocks": [{"pin": "clk", "reset": "rst", "hertz": 1_000_000_000}],
        "attach": [],
        "ports": [],
    }
    manifest.write_text(json.dumps(described), encoding="utf-8")
    given = {"MODE": "VERY_FAST", "NAME": '"one"', "WIDTH": "4"}
    assert check_parameters(manifest, given) == {"MODE": "VERY_FAST", "NAME": "one", "WIDTH": 4}
    assert Unit(UnitConfig(str(manifest), given)).design.parameters == {**given, "NAME": "one", "WIDTH": 4}


def former(folder: Path, **changes: Any) -> Path:
    """A manifest of format 1."""
    record = json.loads((OWN / "manifest.json").read_text(encoding="utf-8"))
    clock = main_clock(record)
    del record["clocks"], record["attach"]
    manifest = folder / "manifest.json"
    manifest.write_text(json.dumps(record | {"format": 1, "clock": clock} | changes), encoding="utf-8")
    return manifest


def test_a_manifest_of_the_former_format_is_read_with_a_line_that_says_what_to_change(tmp_path: Path) -> None:
    manifest = former(tmp_path)
    with pytest.warns(FutureWarning, match='"attach": \\["hart"\\]'):
        record = read_manifest(manifest)
    assert record == read_manifest(OWN / "manifest.json")
    told = rw("units", manifest)
    assert told.status == 0
    assert told.stderr.count("\n") == 1
    assert f'{manifest}: format 1 is read for now: say "format": 2' in told.stderr
    with pytest.raises(EngineError, match="format 7 is unknown; 2 is read"):
        read_manifest(former(tmp_path, format=7))


def test_clocks_without_a_ratio_and_several_clocks_where_one_is_needed_are_refused(tmp_path: Path) -> None:
    record = read_manifest(OWN / "manifest.json")
    manifest = tmp_path / "manifest.json"

    def written(hertz: int) -> Path:
        clocks = [*record["clocks"], {"pin": "pixel", "reset": None, "hertz": hertz}]
        manifest.write_text(json.dumps(record | {"clocks": clocks}), encoding="utf-8")
        return manifest

    with pytest.raises(EngineError, match="`clock` of 2000000000 Hz and `pixel` of 7 Hz have no ratio"):
        read_manifest(written(7))
    with pytest.raises(RackwrightError, match="has the clocks clock and pixel; translation takes"):
        translated_manifest(written(500_000_000), {})


def test_clocks_and_resets_are_recognised_by_name_and_use(tmp_path: Path) -> None:
    top = tmp_path / "Top.sv"
    top.write_text(
        "module Below(input logic c, rst_ni, output logic q);\n"
        "  always_ff @(posedge c or negedge rst_ni) q <= rst_ni;\nendmodule\n"
        "module Top #(parameter int WIDTH = 8) (input logic clk_i, rst_ni, input logic [WIDTH-1:0] odd);\n"
        "  Below below(.c(clk_i), .rst_ni, .q());\nendmodule\n",
        encoding="utf-8",
    )
    found = scan([top], tmp_path)
    expected = {"pin": "clk_i", "reset": "rst_ni", "active": "low", "asynchronous": True}
    assert main_clock(found.manifest) == {**expected, "hertz": 1_000_000_000}
    assert found.remarks == [
        "odd: 8 bits of no known bus; the input stays 0",
        "parameters that can be set: WIDTH",
    ]
    (tmp_path / "Bad.sv").write_text("module Bad(input logic clk; endmodule\n", encoding="utf-8")
    with pytest.raises(RackwrightError, match=r"Bad\.sv:1: "):
        scan([tmp_path / "Bad.sv"], tmp_path)


def test_clock_reset_and_included_folders_may_be_said(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "start.svh").write_text("`define START 5\n", encoding="utf-8")
    (tmp_path / "Pixels.sv").write_text(
        '`include "start.svh"\n'
        "module Pixels(input logic pixel, clear, output logic [7:0] sum, output logic interrupt_full);\n"
        "  initial sum = `START;\n"
        "  always_ff @(posedge pixel) sum <= clear ? 0 : sum + 1;\n"
        "  assign interrupt_full = sum == 255;\nendmodule\n",
        encoding="utf-8",
    )
    files, include = [tmp_path / "Pixels.sv"], (tmp_path / "inc",)
    with pytest.raises(RackwrightError, match=r"use --clock NAME"):
        scan(files, tmp_path, Known(include=include))
    with pytest.raises(RackwrightError, match=r"module Pixels has no input sum of one bit"):
        scan(files, tmp_path, Known(include=include, clock="sum"))
    found = scan(files, tmp_path, Known(include=include, clock="pixel", reset="clear"))
    assert main_clock(found.manifest) == {"pin": "pixel", "reset": "clear", "hertz": 1_000_000_000}
    assert found.manifest["include"] == ["inc"]
    (tmp_path / "Frame.sv").write_text(
        "module Frame(input logic clk, rst); Nowhere below(.clk); endmodule\n", encoding="utf-8"
    )
    missing = scan([tmp_path / "Frame.sv"], tmp_path).remarks
    assert missing == ["modules that are in none of the files: Nowhere"]
    # Without a reset, registers start as they are declared.
    found = scan(files, tmp_path, Known(include=include, clock="pixel"))
    assert main_clock(found.manifest)["reset"] is None
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(found.manifest), encoding="utf-8")
    assert Unit(path).design.top == "Pixels"


def dma(folder: Path, *changes: tuple[str, str, str]) -> Path:
    """The manifest of a copy of the DMA in which texts of files have changed."""
    shutil.copytree(AXI, folder / "axi", dirs_exist_ok=True)
    for name, old, new in changes:
        path = folder / "axi" / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
    return folder / "axi" / "manifest.json"


def copied(unit: Unit, data: bytes, misalignment: int, beat: int) -> bytes:
    """What the DMA makes of `data`, which begins some beats into a page."""
    source = unit.load(data, misalignment=misalignment * beat)
    destination = unit.reserve(len(data), misalignment=3 * beat)
    for register, value in ((SOURCE, source.address), (DESTINATION, destination.address)):
        unit.write_register(register, value & 0xFFFF_FFFF)
        unit.write_register(register + 4, value >> 32)
    unit.write_register(BYTES, len(data))
    unit.write_register(CONTROL, 1)
    while not (control := unit.read_register(CONTROL)) & DONE:
        pass
    assert control & ERROR == 0
    assert unit.violations == 0
    return unit.read(destination)


@pytest.mark.parametrize("beat", [4, 8, 16, 32])
def test_a_dma_of_axi_copies_beats_of_every_width(tmp_path: Path, beat: int) -> None:
    wide = ("manifest.json", '"bytes": 8', f'"bytes": {beat}')
    manifest = dma(tmp_path, wide, ("manifest.json", '"DATA_BYTES": 8', f'"DATA_BYTES": {beat}'))
    unit = Unit(UnitConfig(str(manifest), {"BURST": 8}))
    assert unit.read_register(CONTROL) == unit.read_register("control") == IDLE
    with pytest.raises(RackwrightError, match="has no register countrol; there are control, source"):
        unit.read_register("countrol")
    for length, misalignment in ((1, 0), (7, 1), (8, 2), (333, 5)):
        data = random.Random(length).randbytes(length * beat)
        assert copied(unit, data, misalignment, beat) == data
    unit.write_register(BYTES, 1)
    unit.write_register(CONTROL, 1)
    assert unit.read_register(CONTROL) == ERROR | IDLE | DONE


def test_a_dma_is_told_of_memory_that_refuses(tmp_path: Path) -> None:
    unit = Unit(dma(tmp_path))
    unit.write_register(SOURCE, 0x1000)
    unit.write_register(DESTINATION, 0x1000)
    unit.write_register(BYTES, 64)
    unit.write_register(CONTROL, 1)
    while not (control := unit.read_register(CONTROL)) & DONE:
        pass
    assert (control, unit.violations) == (ERROR | IDLE | DONE, 8)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "wlast   = beat == beats - 1",
            "wlast   = beat == beats - 2",
            "WLAST is not with the last beat of a burst",
        ),
        ("room(source), room(destination)", "32'd512, 32'd512", "AR asks for a burst over 4 KiB"),
        (
            "arsize  = 3'(BEAT_BITS)",
            "arsize  = 3'(BEAT_BITS + 1)",
            "AR asks for a beat that is wider than the bus",
        ),
        (
            "wvalid  = state == WRITE",
            "wvalid  = state == OFFER && beat[0] == 0 || state == WRITE && beat != 0",
            "WVALID or what goes with it changed before WREADY",
        ),
    ],
)
def test_a_dma_that_breaks_the_protocol_is_stopped(tmp_path: Path, old: str, new: str, said: str) -> None:
    unit = Unit(dma(tmp_path, ("rtl/CopyDma.sv", old, new)))
    with pytest.raises(EngineError, match=r"unit `copy-dma` stopped at .*: m_axi_gmem: ") as raised:
        copied(unit, bytes(4096), 100, 8)
    assert str(raised.value).endswith(said)


def test_widths_of_buses_follow_the_parameters_that_scan_is_given(tmp_path: Path) -> None:
    """A `generate` branch that is not taken needs no modules, and a line called `o_int` is an interrupt."""
    (tmp_path / "Wide.sv").write_text(
        """module Wide #(parameter BITS = 32, parameter [0:0] NARROW = 1) (
            input clk, input resetn, output m_axi_arvalid, input m_axi_arready,
            output [47:0] m_axi_araddr, output [7:0] m_axi_arlen, input m_axi_rvalid, output m_axi_rready,
            input [BITS-1:0] m_axi_rdata, output o_int);
          generate if (NARROW) begin : narrow
            assign o_int = 0;
          end else begin : wide
            absent inner(.line(o_int));
          end endgenerate
        endmodule
"""
    )
    top = [tmp_path / "Wide.sv"]
    plain = scan(top, tmp_path)
    assert [port.get("bytes") for port in plain.manifest["ports"]] == [4, None]
    assert plain.manifest["ports"][1] == {"contract": "interrupt", "name": "o_int", "pin": "o_int"}
    assert not any("modules that are in none" in remark for remark in plain.remarks)
    wide = scan(top, tmp_path, Known(parameters={"BITS": "128", "NARROW": "0"}))
    assert wide.manifest["ports"][0]["bytes"] == 16
    assert wide.manifest["parameters"] == {"BITS": 128, "NARROW": 0}
    assert "modules that are in none of the files: absent" in wide.remarks
    with pytest.raises(RackwrightError, match="module Wide has no parameter DEPTH; there are BITS, NARROW"):
        scan(top, tmp_path, Known(parameters={"DEPTH": "1"}))
    with pytest.raises(RackwrightError, match="Wide cannot have BITS=lots: use of undeclared identifier"):
        scan(top, tmp_path, Known(parameters={"BITS": "lots"}))


def test_a_program_copies_by_a_dma_that_was_scanned(tmp_path: Path) -> None:
    ended = subprocess.run([sys.executable, AXI / "attach.py"], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "equal" in ended.stdout
    found = scan([AXI / "rtl" / "files.f"], AXI)
    written = json.loads((AXI / "manifest.json").read_text(encoding="utf-8"))
    del written["ports"][0]["registers"]
    for part in ("unit", "top", "verilog", "clocks", "attach", "ports"):
        assert found.manifest[part] == written[part]
    assert "parameters that can be set: DATA_BYTES, BURST" in found.remarks


def test_registers_of_a_kernel_of_high_level_synthesis_have_names(tmp_path: Path) -> None:
    given = ("AWVALID", "AWADDR", "WVALID", "WDATA", "WSTRB", "BREADY", "ARVALID", "ARADDR", "RREADY")
    taken = ("AWREADY", "WREADY", "BVALID", "BRESP", "ARREADY", "RVALID", "RDATA", "RRESP")
    wide = {"ADDR": "[5:0] ", "DATA": "[31:0] ", "STRB": "[3:0] ", "RESP": "[1:0] "}
    lite = "".join(
        f"{way} {wide.get(name[-4:], '')}s_axi_control_{name}, "
        for way, names in (("input", given), ("output", taken))
        for name in names
    )
    (tmp_path / "add.v").write_text(
        f"""module add #(parameter ap_ST_fsm_state1 = 2'd1, DEPTH = 4)
                ({lite} input ap_clk, input ap_rst_n, output interrupt);
              add_control_s_axi control_s_axi_U(ap_clk);
            endmodule
            module add_control_s_axi(input ACLK);
              localparam ADDR_AP_CTRL = 6'h00, ADDR_GIE = 6'h04,
                         ADDR_N_DATA_0 = 6'h1c, ADDR_BITS = 6;
            endmodule
        """,
        encoding="utf-8",
    )
    found = scan([tmp_path / "add.v"], tmp_path, Known(top="add"))
    assert "parameters that can be set: DEPTH" in found.remarks
    (port, line) = found.manifest["ports"]
    offsets = {register["name"]: register["offset"] for register in port["registers"]}
    assert offsets == {"ap_ctrl": 0, "gie": 4, "n_data_0": 0x1C}
    assert line == {"contract": "interrupt", "name": "interrupt", "pin": "interrupt"}


def test_variables_of_lists_choose_the_design(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = SUMS.read_text(encoding="utf-8")
    for name, more in (("one", "8'd1"), ("two", "8'd2")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "Sums.sv").write_text(text.replace("8'd1", more), encoding="utf-8")
    (tmp_path / "files.f").write_text("$SUMS/Sums.sv\n", encoding="utf-8")
    monkeypatch.setenv("SUMS", str(tmp_path / "one"))
    found = scan([tmp_path / "files.f"], tmp_path, Known(top="Sums"))
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(found.manifest), encoding="utf-8")
    for name, added in (("one", 1), ("two", 2)):
        monkeypatch.setenv("SUMS", str(tmp_path / name))
        unit = Unit(path)
        unit.send("s_axis", b"abc")
        assert unit.receive("m_axis") == bytes(byte + added for byte in b"abc")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"-f files.f\n", "files.f, which leads to it"),
        (b"$SUMS/Sums.sv -f more.f\n", "files.f, which leads to it"),
        (b"+define+VALUE=8'd3\n", "No closing quotation"),
        (b"\xff\xfe\n", "not UTF-8"),
        (b"-f folder\n", "folder: Is a directory"),
        (b"$SUMS/Sums.sv -f\n", "-f has nothing after it"),
    ],
)
def test_a_list_that_cannot_be_followed_is_told_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: bytes, said: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "files.f").write_bytes(text)
    (tmp_path / "more.f").write_text("-f files.f\n", encoding="utf-8")
    monkeypatch.setenv("SUMS", str(tmp_path))
    with pytest.raises(RackwrightError, match=re.escape(said)):
        scan([tmp_path / "files.f"], tmp_path)


WAITING = """
#include "units.h"
int main(int count, char **words) {
    (void)words;
    if (count > 1) return *(volatile unsigned *)COPY_DMA_INTERRUPT;
    return *(volatile unsigned long *)COPY_DMA_INTERRUPT;
}
"""


def test_a_program_that_waits_for_an_interrupt_in_vain_is_told(tmp_path: Path) -> None:
    manifest = AXI / "manifest.json"
    (tmp_path / "units.h").write_text(server_header([manifest]), encoding="utf-8")
    (tmp_path / "waiting.c").write_text(WAITING, encoding="utf-8")
    program = compile_program([tmp_path / "waiting.c"], tmp_path / "waiting.elf", [f"-I{tmp_path}"])
    server = Server("functional", [manifest])
    with pytest.raises(
        EngineError, match=r"limit .*; it waits for unit `copy-dma`, which has raised no inter"
    ):
        server.run(program, max_cycles=200_000)
    with pytest.raises(EngineError, match="LoadAccessFault"):
        server.run(program, ["a part of the word"])


def test_streams_of_axi_carry_frames(tmp_path: Path) -> None:
    shutil.copy(SUMS, tmp_path)
    found = scan([tmp_path / "Sums.sv"], tmp_path)
    flags = [{name for name, value in port.items() if value is True} for port in found.manifest["ports"]]
    assert flags == [{"keep", "last"}, {"keep", "last"}, set(), set()]
    assert "irq: an interrupt line, for which programs can wait" in found.remarks
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(found.manifest), encoding="utf-8")
    unit = Unit(path)
    for length in (1, 3, 4, 5, 8, 17, 300):
        frame = random.Random(length).randbytes(length)
        unit.send("s_axis", frame)
        assert unit.receive("m_axis") == bytes((byte + 1) % 256 for byte in frame)
        unit.await_interrupt()
        low, high = unit.frames("SUM")
        assert low + high == (sum(frame) & 0xFFFF).to_bytes(2, "little")
    with pytest.raises(RackwrightError, match="sums has raised no interrupt in"):
        unit.await_interrupt(100)


APB = """module Timer(input logic pclk, presetn, psel, penable, pwrite, input logic [7:0] paddr,
    input logic [31:0] pwdata, input logic [3:0] pstrb,
    output logic [31:0] prdata, output logic pready, pslverr);
  logic [31:0] kept[4], waited;
  assign pready = waited == WAITS;
  assign pslverr = psel && penable && paddr >= 16;
  assign prdata = kept[paddr[3:2]];
  always_ff @(posedge pclk) begin
    waited <= psel && penable && !pready ? waited + 1 : 0;
    if (psel && penable && pready && pwrite)
      for (int lane = 0; lane < 4; lane++)
        if (pstrb[lane]) kept[paddr[3:2]][8 * lane +: 8] <= pwdata[8 * lane +: 8];
    if (!presetn) waited <= 0;
  end
endmodule
"""


@pytest.mark.parametrize("waits", [0, 3])
def test_registers_behind_apb(tmp_path: Path, waits: int) -> None:
    (tmp_path / "Timer.sv").write_text(APB.replace("WAITS", str(waits)), encoding="utf-8")
    found = scan([tmp_path / "Timer.sv"], tmp_path)
    assert found.manifest["ports"] == [
        {"contract": "apb", "name": "apb", "naming": "lower", "address_bits": 8, "prefix": ""}
    ]
    assert main_clock(found.manifest)["active"] == "low"
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(found.manifest), encoding="utf-8")
    unit = Unit(path)
    for offset in range(0, 16, 4):
        unit.write_register(offset, 0x0101_0101 * (offset + 1))
    assert [unit.read_register(offset) for offset in range(0, 16, 4)] == [
        0x0101_0101 * (offset + 1) for offset in range(0, 16, 4)
    ]
    unit.read_register(0x20)
    with pytest.raises(EngineError, match="answers with an error to a read of 0x20"):
        unit.read_register(0)


def test_a_program_reads_registers_behind_apb_in_parts(tmp_path: Path) -> None:
    (tmp_path / "Timer.sv").write_text(APB.replace("WAITS", "1"), encoding="utf-8")
    manifest = tmp_path / "manifest.json"
    found = scan([tmp_path / "Timer.sv"], tmp_path)
    manifest.write_text(json.dumps(found.manifest), encoding="utf-8")
    source = tmp_path / "parts.c"
    source.write_text(
        "#include <stdint.h>\n"
        "int main(void) { volatile uint8_t *bytes = (uint8_t *)(1ull << 40);\n"
        "  *(volatile uint32_t *)bytes = 0x44332211; bytes[2] = 0x99;\n"
        "  *(volatile uint16_t *)(bytes + 12) = 0xabcd;\n"
        "  const int whole = *(volatile uint32_t *)bytes == 0x44992211;\n"
        "  return whole && bytes[3] == 0x44 && bytes[13] == 0xab ? 0 : 1; }\n"
    )
    program = compile_program([source], tmp_path / "parts.elf")
    assert Server("functional", [manifest]).run(program).exit_code == 0


def test_what_of_apb_cannot_be_attached_is_said(tmp_path: Path) -> None:
    for old, new, said in (
        ("pslverr);", "odd);", "apb: an APB completer without pslverr; connect it in a wrapper"),
        ("[31:0] pwdata", "[15:0] pwdata", "apb: an APB completer of other than 32 bits"),
    ):
        text = APB.replace("WAITS", "0").replace(old, new).replace("assign pslverr", f"wire p = {0}; // ")
        (tmp_path / "Timer.sv").write_text(text, encoding="utf-8")
        remarks = scan([tmp_path / "Timer.sv"], tmp_path).remarks
        assert any(remark.startswith(said) for remark in remarks), remarks
