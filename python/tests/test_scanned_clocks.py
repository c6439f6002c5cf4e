"""What a scan finds beside pins and buses: further clocks, and functions in C."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import rw

from rackwright import RackwrightError, Unit
from rackwright.verilog.clocks import is_low, is_reset, reset_of
from rackwright.verilog.scan import scan

TICKING = """
import "DPI-C" function int unsigned twice(input int unsigned number);

module Below (input logic c_i, r_ni, output logic [31:0] ticks_o);
  always_ff @(posedge c_i or negedge r_ni) ticks_o <= r_ni ? ticks_o + 1 : 0;
endmodule

module Ticking (
  input  logic clk, rst, clk_slow, rst_slow_n, clk_enable,
  input  logic psel, penable, pwrite, input logic [7:0] paddr,
  input  logic [31:0] pwdata, input logic [3:0] pstrb,
  output logic pready, pslverr, output logic [31:0] prdata
);
  logic [31:0] fast, slow;
  always_ff @(posedge clk) fast <= rst ? 0 : fast + 1;
  Below below(.c_i(clk_slow), .r_ni(rst_slow_n), .ticks_o(slow));
  assign {pready, pslverr} = 2'b10;
  assign prdata = paddr[2] ? twice(slow) : fast;
endmodule
"""


def test_a_design_with_two_clocks_and_functions_in_c_runs_as_it_was_scanned(tmp_path: Path) -> None:
    for name, text in (
        ("Ticking.sv", TICKING),
        ("twice.c", "unsigned int twice(unsigned int number) { return 2 * number; }\n"),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    path = tmp_path / "manifest.json"
    scanned = rw("units", "scan", tmp_path / "Ticking.sv", tmp_path / "twice.c", "-o", path)
    assert scanned.status == 0
    assert "clk_slow: one more clock, with rst_slow_n;" in scanned.stdout
    manifest = json.loads(path.read_text(encoding="utf-8"))
    first, slow = manifest["clocks"]
    assert (first["pin"], first["reset"]) == ("clk", "rst")
    expected = {"pin": "clk_slow", "reset": "rst_slow_n", "active": "low", "asynchronous": True}
    assert slow == {**expected, "hertz": first["hertz"]}
    slow["hertz"] //= 4
    path.write_text(json.dumps(manifest), encoding="utf-8")
    unit = Unit(path)
    for _ in range(20):
        before = unit.read_register(0)
        slow_ticks = unit.read_register(4) // 2
    assert before > 20
    assert before / 4 - 3 < slow_ticks < unit.read_register(0) / 4 + 3


def test_functions_without_sources_are_named(tmp_path: Path) -> None:
    (tmp_path / "Ticking.sv").write_text(TICKING, encoding="utf-8")
    found = scan([tmp_path / "Ticking.sv"], tmp_path)
    assert "imported functions, whose sources in C belong in `dpi`: twice" in found.remarks
    assert "clk_enable: 1 bit of no known bus; the input stays 0" in found.remarks
    with pytest.raises(RackwrightError, match=r"none\.c: no such file"):
        scan([tmp_path / "Ticking.sv", tmp_path / "none.c"], tmp_path)
    with pytest.raises(RackwrightError, match="give the files in SystemVerilog, too"):
        scan([tmp_path / "none.c"], tmp_path)


def test_resets_are_named_like_their_clocks() -> None:
    resets = ["aresetn", "s_axi_aresetn", "rst_fast_ni", "start"]
    asked = ["aclk", "s_axi_aclk", "clk_fast_i", "clk_other"]
    assert [reset_of(clock, resets) for clock in asked] == [*resets[:3], None]
    low, high = ("PRESETn", "rst_ni", "nrst", "rst_fast_b"), ("reset", "clear", "areset", "rst_fast")
    assert [is_low(name) for name in low + high] == [True] * 4 + [False] * 4
    assert [is_reset(name) for name in (*low, *high, "first", "burst", "presets")] == [True] * 8 + [False] * 3
