"""Synthesis of designs in SystemVerilog that users bring with a manifest of their own."""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path
from typing import Any

import pytest

from rackwright import Unit
from rackwright.errors import RackwrightError
from rackwright.hardware.clocks import ClockSource, clock_of
from rackwright.synthesis.figures import Figures, figures
from rackwright.synthesis.flow import read_design, synthesise
from rackwright.synthesis.library import CACHE, DEFAULT_LIBERTY, load_library
from rackwright.synthesis.process import load_process
from rackwright.synthesis.simulation import write_gates

pytestmark = pytest.mark.skipif(
    not DEFAULT_LIBERTY.exists(), reason="the packages of synthesis are not installed"
)

GUIDE = Path(__file__).parents[2] / "examples" / "bring-your-own" / "systemverilog" / "manifest.json"

TYPES = """package types;
  typedef struct packed {logic [3:0] low; logic [7:0] high;} pair_t;
endpackage
"""

STORE = """interface sink_if;
  logic [7:0] data;
  modport source(output data);
endinterface

module Store import types::*; #(parameter int WIDTH = 8) (
  input logic clock, input logic reset_n, input logic [WIDTH-1:0] x, sink_if.source sink, output pair_t pair
);
  logic [WIDTH-1:0] words [0:255];
  logic [7:0] address;
  logic [WIDTH-1:0] word;
  always_ff @(posedge clock) begin
    words[address] <= x;
    word <= words[address + 1];
  end
  always_ff @(posedge clock or negedge reset_n)
    if (!reset_n) address <= 0;
    else address <= address + 1;
  assign sink.data = 8'(word);
  always_comb begin
    pair = '0;
    pair.low = word[3:0];
    for (int i = 0; i < 4; i++) pair.high[i] = word[i];
  end
endmodule
"""

TOP = """`include "step.svh"
module Top #(parameter int EXTRA = 0) (
  input logic clock, input logic other, input logic reset_n, input logic [7:0] x,
  output types::pair_t pair, output logic [15:0] sum, output logic [7:0] late
);
  sink_if first();
  sink_if second();
  types::pair_t ignored;
  Store #(8) narrow(.clock, .reset_n, .x, .sink(first), .pair);
  Store #(16) wide(.clock, .reset_n, .x(16'(x + EXTRA)), .sink(second), .pair(ignored));
  assign sum = {first.data, second.data} + `STEP + ignored;
  always_ff @(posedge other) late <= x;
endmodule
"""


def design(folder: Path, top: str = TOP, **changes: Any) -> Path:
    """The manifest of a design with a package, an interface, an included file, a parameter and memories."""
    (folder / "include").mkdir(exist_ok=True)
    (folder / "include" / "step.svh").write_text("`define STEP 3\n")
    for name, text in (("types.sv", TYPES), ("Store.sv", STORE), ("Top.sv", top)):
        (folder / name).write_text(text)
    record: dict[str, Any] = {
        "format": 2,
        "unit": "own",
        "design": "Own",
        "top": "Top",
        "verilog": ["types.sv", "Store.sv", "Top.sv"],
        "include": ["include"],
        "clocks": [{"pin": "clock", "reset": "reset_n", "hertz": 1_000_000_000}],
        "attach": [],
        "ports": [],
        "parameters": {},
    }
    manifest = folder / "manifest.json"
    manifest.write_text(json.dumps(record | changes))
    return manifest


def synthesised(manifest: Path) -> Figures:
    """The figures of a design."""
    library, process = load_library(), load_process()
    return figures(synthesise(read_design(manifest), library, process), library, process)


def test_packages_interfaces_and_memories_are_synthesised(tmp_path: Path) -> None:
    row = synthesised(design(tmp_path))
    macros = sorted((macro.depth, macro.width, macro.ports) for macro in row.sram_macros)
    assert macros == [(256, 8, "1R1W"), (256, 16, "1R1W")]
    # Two addresses of 8 bits, and what the other clock has.
    assert row.flops == 24
    assert row.depth_fo4 > 10
    assert row.notes == (
        "asynchronous resets are synthesised as synchronous ones",
        "paths between the clocks clock and other are not timed",
    )


def test_parameters_and_included_files_are_part_of_the_design(tmp_path: Path) -> None:
    plain = read_design(design(tmp_path)).rtl_hash
    assert read_design(design(tmp_path, parameters={"EXTRA": 5})).rtl_hash != plain
    again = design(tmp_path)
    assert read_design(again).rtl_hash == plain
    (tmp_path / "include" / "step.svh").write_text("`define STEP 4\n")
    assert read_design(again).rtl_hash != plain


def test_a_design_is_read_through_links_to_its_files_and_folders(tmp_path: Path) -> None:
    own, linked = tmp_path / "own", tmp_path / "linked"
    own.mkdir()
    linked.mkdir()
    plain = read_design(design(own)).rtl_hash
    manifest = design(linked)
    (linked / "Top.sv").unlink()
    (linked / "Top.sv").symlink_to(own / "Top.sv")
    (tmp_path / "through").symlink_to(linked)
    assert read_design(tmp_path / "through" / manifest.name).rtl_hash == plain


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("always_latch if (x[0]) late = x;", r"Top\.sv:12\S*: synthesis does not support a latch"),
        ("always_ff @(negedge other) late <= x;", r"Top\.sv:12\S*: synthesis does not support falling edges"),
        ("always_ff @(posedge (other & x[0])) late <= x;", r"the clock at .*Top\.sv:12\S* is made inside"),
        ("always @(posedge clock) begin @(posedge other); late <= x; end", r"Top\.sv:12: .*timing control$"),
        (
            'import "DPI-C" function int unsigned f(input int x); assign late = 8\'(f(x));',
            "functions in C have no gates: f",
        ),
        ("assign late = nowhere;", r"synthesis cannot read it: .*Top\.sv:12.*undeclared identifier"),
    ],
)
def test_what_has_no_figures_is_named_with_its_place(tmp_path: Path, line: str, complaint: str) -> None:
    manifest = design(tmp_path, TOP.replace("always_ff @(posedge other) late <= x;", line))
    with pytest.raises(RackwrightError, match=complaint) as raised:
        read_design(manifest)
    assert "\n" not in str(raised.value)


def test_a_pin_that_goes_both_ways_is_named(tmp_path: Path) -> None:
    manifest = design(tmp_path, TOP.replace("input logic other,", "input logic other, inout wire both,"))
    with pytest.raises(RackwrightError, match=r"^both: synthesis does not support bidirectional pins"):
        read_design(manifest)


def test_a_unit_of_the_guide_has_a_clock_and_works_in_gates(tmp_path: Path) -> None:
    clock = clock_of(GUIDE, "synthesised")
    assert clock.source == ClockSource.synthesised
    assert 100_000_000 < clock.hertz < 2_000_000_000
    gates = Unit(write_gates(GUIDE, load_library(), load_process(), tmp_path))
    data = random.Random(1).randbytes(1000)
    buffer = gates.load(data, misalignment=3)
    gates.command(0, buffer.address, buffer.length)
    assert gates.query(1) == sum(byte.bit_count() for byte in data)
    assert gates.violations == 0


BYTES = """
module Bytes (
    input logic clock, input logic reset, input logic read, input logic [3:0] write,
    input logic [9:0] address, input logic [31:0] data, output logic [31:0] word = 0
);
    logic [31:0] words[1024];
    initial for (int i = 0; i < 1024; i++) words[i] = 0;
    always_ff @(posedge clock) begin
        for (int i = 0; i < 4; i++) if (write[i]) words[address][8*i +: 8] <= data[8*i +: 8];
        if (read) word <= words[address];
    end
endmodule
"""


def test_a_memory_that_is_written_by_bytes_and_read_on_demand_is_one_macro(tmp_path: Path) -> None:
    manifest = design(tmp_path, BYTES, verilog=["Top.sv"])
    manifest.write_text(
        manifest.read_text().replace('"top": "Top"', '"top": "Bytes"').replace("reset_n", "reset")
    )
    row = synthesised(manifest)
    assert [(each.depth, each.width, each.ports) for each in row.sram_macros] == [(1024, 32, "1R1W")]
    assert row.flops == 0


TEXTUAL = """
module Textual #(parameter string MODE = "add", parameter longint FACTOR = 1) (
    input logic clock, input logic reset, input logic [15:0] data, output logic [63:0] total
);
    logic [15:0] kept[8192];
    initial for (int word = 0; word < 8192; word++) kept[word] = 0;
    always_ff @(posedge clock) begin
        kept[data[12:0]] <= data;
        total <= MODE == "add" ? 64'(data) : 64'(kept[data[12:0]]) * FACTOR;
    end
endmodule
"""


def textual(folder: Path, *verilog: str, **parameters: object) -> str:
    """What is read of `TEXTUAL` with `parameters`, as plain Verilog."""
    manifest = design(folder, TEXTUAL, verilog=list(verilog), parameters=parameters)
    manifest.write_text(manifest.read_text().replace('"top": "Top"', '"top": "Textual"'))
    return read_design(manifest).modules["Textual"].text


def test_texts_wide_numbers_long_loops_and_paths_with_spaces_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    assert " * " not in textual(folder, "Top.sv")
    assert " * " in textual(folder, "Top.sv", MODE="scale", FACTOR=2**40 + 1)


LEGACY = """`include "width.vh"
`define LATER #1 // of simulation
module Textual(input clock, input reset_n, input [1:0] select, input [`WIDTH-1:0] x,
               output reg [7:0] kept, output reg total);
  initial #0 kept <= 8'h5a;
  reg [7:0] next;
  reg odd;
  always @* begin
    (* full_case *)
    case (select)
      2'd0: next = x;
      2'd1: next = x + 1;
      2'd2: next = ~x;
    endcase
    case (select) // synopsys full_case parallel_case
      2'd0: odd = x[0];
      2'd3: odd = ^x;
    endcase
  end
  always @(posedge clock) begin
    if (!reset_n) kept <= #(1 + 1) kept + next;
    total <= `LATER odd;
  end
endmodule
"""


def test_what_old_verilog_says_is_read_by_lists_with_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "elsewhere"
    (folder / "include").mkdir(parents=True)
    (folder / "include" / "width.vh").write_text("`define WIDTH 8\n")
    (folder / "Textual.v").write_text(LEGACY)
    inner = "/* what all have */ +incdir+${LEGACY_HOME}/include\n$(LEGACY_HOME)/Textual.v // the top\n"
    (tmp_path / "inner.f").write_text(inner)
    (tmp_path / "files.f").write_text("-f inner.f # and nothing else\n")
    monkeypatch.setenv("LEGACY_HOME", str(folder))
    assert "8'h5a" in textual(tmp_path, "files.f")
    assert "latch" not in textual(tmp_path, "files.f")
    (folder / "Textual.v").write_text(LEGACY.replace("(* full_case *)", ""))
    with pytest.raises(RackwrightError, match=r"Textual\.v:\S*: synthesis does not support a latch"):
        textual(tmp_path, "files.f")
    monkeypatch.delenv("LEGACY_HOME")
    with pytest.raises(RackwrightError, match=r"inner\.f: \$LEGACY_HOME is not set"):
        textual(tmp_path, "files.f")


def test_a_list_of_files_may_have_absolute_paths(tmp_path: Path) -> None:
    # The program that reads has a `/tmp` of its own, so that the sources are elsewhere.
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="listed-", dir=CACHE) as listed:
        source = Path(listed) / "Textual.sv"
        source.write_text(TEXTUAL)
        (tmp_path / "files.f").write_text(f"{source}\n")
        assert "total" in textual(tmp_path, "files.f")
