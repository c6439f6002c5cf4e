"""Synthesis against what is known of it: published depths, two libraries, and the committed table."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from tiers import long

from rackwright import EngineError
from rackwright.errors import RackwrightError
from rackwright.hardware.designs import elaborate, elaborate_all
from rackwright.synthesis import shells, upkeep
from rackwright.synthesis.batch import synthesise_all
from rackwright.synthesis.configurations import Configuration, configurations
from rackwright.synthesis.figures import figures
from rackwright.synthesis.flow import CELLS_FILE, Design, read_design, synthesise
from rackwright.synthesis.liberty import read_liberty
from rackwright.synthesis.library import DEFAULT_LIBERTY, load_library
from rackwright.synthesis.macros import macro_library
from rackwright.synthesis.mapping import map_pieces
from rackwright.synthesis.memories import recognise, sliced
from rackwright.synthesis.netlist import Netlist
from rackwright.synthesis.pieces import cut
from rackwright.synthesis.process import load_process
from rackwright.synthesis.table import Row, flow_hash, read_table, row_of
from rackwright.synthesis.timing import longest_paths
from rackwright.synthesis.upkeep import update_table
from rackwright.synthesis.verilog import FirtoolModule, modules

OTHER_LIBERTY = Path("/usr/share/qflow/tech/osu035/osu035_stdcells.lib")

needs_tools = pytest.mark.skipif(
    not DEFAULT_LIBERTY.exists(), reason="the packages of synthesis are not installed"
)
needs_both = pytest.mark.skipif(not OTHER_LIBERTY.exists(), reason="qflow-tech-osu035 is not installed")

ADDER = ("a + b", 64)
COMPARATOR = ("{63'h0, a < b}", 64)
ROTATOR = ("(a << {b[4:0], 3'h0}) | (a >> (9'h100 - {1'h0, b[4:0], 3'h0}))", 256)


def between_registers(expression: str, width: int) -> Design:
    """A design whose only logic is `expression` of the registers a and b."""
    bits = f"[{width - 1}:0]"
    text = f"""module Probe(
  input        clock,
               reset,
  input  {bits} x,
  input  {bits} y,
  output {bits} z
);

  reg  {bits} a;
  reg  {bits} b;
  reg  {bits} r;
  always @(posedge clock) begin
    a <= x;
    b <= y;
    r <= {expression};
  end // always @(posedge)
  assign z = r;
endmodule
"""
    return Design("probe", {}, "", modules(text), "Probe")


@cache
def depth(expression: str, width: int, liberty: Path = DEFAULT_LIBERTY) -> float:
    """Depth of the logic alone in FO4: what it adds to a path from flop to flop."""
    library = load_library([liberty])
    whole, bare = (
        synthesise(between_registers(each, width), library, load_process(), paths=1).paths[0].depth_fo4
        for each in (expression, "a")
    )
    return whole - bare


@needs_tools
def test_an_adder_of_64_bits_is_as_deep_as_published() -> None:
    # A prefix adder of 64 bits takes 7 to 9 FO4 in custom logic, 13 to 18 of standard cells.
    assert 13 <= depth(*ADDER) <= 18


@needs_tools
def test_a_comparator_is_no_deeper_than_an_adder() -> None:
    assert 7 <= depth(*COMPARATOR) <= depth(*ADDER)


@needs_tools
def test_a_rotator_of_256_bits_is_five_multiplexers_and_their_fan_out() -> None:
    # Five levels of about 2 FO4, and select lines that drive 256 of them: log4(256) more.
    assert 9 <= depth(*ROTATOR) <= 19


@needs_tools
@needs_both
@pytest.mark.parametrize("logic", [ADDER, COMPARATOR, ROTATOR])
def test_two_libraries_agree_on_the_depth(logic: tuple[str, int]) -> None:
    assert depth(*logic, OTHER_LIBERTY) == pytest.approx(depth(*logic), rel=0.15)


@needs_tools
def test_the_access_of_a_macro_counts() -> None:
    process = load_process()
    result = synthesise(Design("probe", {}, "", modules(MEMORY + READER), "Reader"), load_library(), process)
    (macro,) = figures(result, load_library(), process).sram_macros
    assert macro.ports == "1R1W"
    assert result.paths[0].depth_fo4 * process.fo4_picoseconds > macro.access_picoseconds
    assert any("held_64x64" in path.start or "held" in path.start for path in result.paths)


MEMORY = """module held_64x64(
  input  [5:0]  R0_addr,
  input         R0_en,
                R0_clk,
  output [63:0] R0_data,
  input  [5:0]  W0_addr,
  input         W0_en,
                W0_clk,
  input  [63:0] W0_data
);

  reg [63:0] Memory[0:63];
  reg        _R0_en_d0;
  reg [5:0]  _R0_addr_d0;
  always @(posedge R0_clk) begin
    _R0_en_d0 <= R0_en;
    _R0_addr_d0 <= R0_addr;
  end // always @(posedge)
  always @(posedge W0_clk) begin
    if (W0_en)
      Memory[W0_addr] <= W0_data;
  end // always @(posedge)
  assign R0_data = _R0_en_d0 ? Memory[_R0_addr_d0] : 64'bx;
endmodule

"""

READER = """module Reader(
  input         clock,
                reset,
  input  [5:0]  from,
  input  [5:0]  to,
  input  [63:0] data,
  output [63:0] z
);

  wire [63:0] read;
  reg  [63:0] r;
  always @(posedge clock) begin
    r <= read;
  end // always @(posedge)
  held_64x64 held (
    .R0_addr (from),
    .R0_en   (1'h1),
    .R0_clk  (clock),
    .R0_data (read),
    .W0_addr (to),
    .W0_en   (1'h1),
    .W0_clk  (clock),
    .W0_data (data)
  );
  assign z = r;
endmodule
"""


def test_memories_with_other_ports_than_macros_are_flops() -> None:
    module = modules(MEMORY)["held_64x64"]
    memory = recognise(module)
    assert memory is not None
    assert (memory.depth, memory.width, memory.ports) == (64, 64, "1R1W")
    assert memory.is_macro(load_process())
    asynchronous = recognise(FirtoolModule("held", MEMORY.replace("_d0", "")))
    assert asynchronous is not None
    assert not asynchronous.is_macro(load_process())


def test_columns_of_a_memory_hold_all_its_bits() -> None:
    memory = recognise(modules(MEMORY)["held_64x64"])
    assert memory is not None
    whole, *columns = sliced(memory)
    parts = [recognise(column) for column in columns]
    held = sum(part.bits * whole.children[part.module.name] for part in parts if part)
    assert held == memory.bits


def test_pieces_hold_every_module_once_or_as_a_box() -> None:
    found = modules(MEMORY + READER)
    (together,) = cut(found, "Reader", frozenset())
    assert [module.name for module in together.inside] == ["held_64x64"]
    top, apart = cut(found, "Reader", frozenset(), frozenset({"held_64x64"}))
    assert (top.inside, [module.name for module in top.outside]) == ((), ["held_64x64"])
    assert apart.root.name == "held_64x64"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (None, "No such file"),
        ("module adder;", "not a Liberty file with cells"),
        ('library(x) {\n cell(N) { area : 1; pin(Y) { function : "(!(A B))"; } }\n}', "no flop"),
        ("library(x) {\n cell(N) {\n area : 1;\n", "ends within a group"),
    ],
)
def test_a_liberty_that_is_no_use_is_refused_in_a_line(
    tmp_path: Path, text: str | None, complaint: str
) -> None:
    path = tmp_path / "cells.lib"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(RackwrightError, match=complaint) as refused:
        load_library([path])
    assert "\n" not in str(refused.value)


@needs_tools
def test_a_liberty_without_a_nand_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cells.lib"
    text = DEFAULT_LIBERTY.read_text(encoding="utf-8").replace('"(!(A B))"', '"(A B)"')
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RackwrightError, match="no NAND of two inputs"):
        load_library([path])


CELLS = """library(x) {
 cell(F) { area : 9; ff (IQ, IQN) { next_state : "D"; clocked_on : "C"; } pin(D) { capacitance : 1; } }
 cell(I) { area : 1; pin(A) { capacitance : 1; } pin(Y) { function : "A'"; } }
 cell(B) { area : 2; pin(A) { capacitance : 1; } pin(Y) { function : "!(!(A))"; } }
 cell(L) { area : 3; pin(A) { capacitance : 1; } pin(B) { capacitance : 1; } pin(Y) { function : "(!A) B"; } }
 cell(N) { area : 4; pin(A) { capacitance : 1; } pin(B) { capacitance : 1; } pin(Y) { function : "A'|!B"; } }
}
"""


def test_gates_are_known_by_what_they_do_and_not_by_how_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "cells.lib"
    path.write_text(CELLS, encoding="utf-8")
    liberty = read_liberty([path])
    assert (liberty.nand.name, liberty.inverter.name, liberty.driver.name) == ("N", "I", "B")
    path.write_text(CELLS.replace("A'|!B", "A' ? !B"), encoding="utf-8")
    with pytest.raises(RackwrightError, match=r"A' \? !B of a cell has signs"):
        read_liberty([path])


def test_a_file_that_is_no_manifest_is_refused_in_a_line(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(EngineError, match="not a manifest: missing field `format`") as refused:
        read_design(path)
    assert "\n" not in str(refused.value)


def test_a_manifest_of_gates_is_refused_in_a_line(tmp_path: Path) -> None:
    record = json.loads(elaborate("stream-copy").read_text(encoding="utf-8"))
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(record | {"verilog": [CELLS_FILE, "Top.v"]}), encoding="utf-8")
    with pytest.raises(RackwrightError, match="is already a gate netlist") as refused:
        read_design(path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[sram]\nbit_um2 = 0", "bit_um2 is 0"),
        ("[sram]\nbits = 3", "bits is not a rule"),
        ("[sram", "Expected"),
        ('[[macro]]\ndepth = 64\nports = "2R"', "a \\[\\[macro\\]\\] has"),
    ],
)
def test_rules_that_make_no_sense_are_refused(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "own.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RackwrightError, match=complaint):
        load_process(path)


def test_a_macro_of_the_user_comes_before_the_rules(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    times = "access_picoseconds = 99\nsetup_picoseconds = 9\n"
    own = f'depth = 64\nwidth = 64\nports = "1R1W"\n{times}area_um2 = 7\n'
    path.write_text(f"[logic]\nfo4_picoseconds = 10\n[[macro]]\n{own}", encoding="utf-8")
    process = load_process(path)
    assert process.macro(64, 64, "1R1W").area_um2 == 7
    assert process.clock_hz(50) == 2_000_000_000
    assert process.macro(64, 64, "1RW") == load_process(path).macro(64, 64, "1RW")
    assert process.macro(64, 64, "1RW").area_um2 > 7


@cache
def manifests(defaults: bool) -> dict[str, Path]:
    """Of the configurations with these names: those of units as they are by default, or all."""
    wanted = [each for each in configurations() if not defaults or is_default(each)]
    found = elaborate_all([each.elaboration for each in wanted])
    return {each.name: manifest for each, manifest in zip(wanted, found, strict=True)}


def is_default(each: Configuration) -> bool:
    return each == Configuration(each.unit)


@pytest.mark.parametrize(
    "each",
    [
        pytest.param(each, id=each.name)
        if is_default(each)
        else long(
            each, why="elaborated for nothing else; its sources are those of the default", name=each.name
        )
        for each in configurations()
    ],
)
def test_the_table_has_a_row_for_the_rtl(each: Configuration) -> None:
    rtl_hash = json.loads(manifests(is_default(each))[each.name].read_text(encoding="utf-8"))["hash"]
    row = read_table().get(rtl_hash)
    assert row is not None, (
        f"{each.name} has changed: `./rw synth --all --update` brings the table up to date"
    )
    assert row.configuration == each.name


def _same_as_in_the_table(each: Configuration) -> None:
    library, process = load_library(), load_process()
    [found] = synthesise_all([read_design(manifests(is_default(each))[each.name])], library, process)
    row = row_of(each.name, found, flow_hash(library, process))
    assert row == read_table()[row.rtl_hash]


REPEATED = """module Part(
  input         clock,
  input  [15:0] a,
                b,
  output [15:0] z
);

  reg [15:0] before;
  reg [15:0] r;
  always @(posedge clock) begin
    before <= a ^ 16'h5;
    r <= before * before + b;
  end // always @(posedge)
  assign z = r ^ 16'h3;
endmodule

module Whole(
  input         clock,
  input  [15:0] a,
                b,
  output [15:0] z
);

  wire [15:0] y0;
  wire [15:0] y1;
  wire [15:0] y2;
  wire [15:0] y3;
  reg  [15:0] sum;
  always @(posedge clock) begin
    sum <= y0 + (y1 ^ y2) + y3;
  end // always @(posedge)
  Part parts_0 (
    .clock (clock),
    .a     (a),
    .b     (b),
    .z     (y0)
  );
  Part parts_1 (
    .clock (clock),
    .a     (y0),
    .b     (b),
    .z     (y1)
  );
  Part parts_2 (
    .clock (clock),
    .a     (y0),
    .b     (a),
    .z     (y2)
  );
  Part parts_3 (
    .clock (clock),
    .a     (y0),
    .b     (sum),
    .z     (y3)
  );
  assign z = sum;
endmodule
"""


@needs_tools
def test_copies_of_a_piece_are_timed_at_their_ports(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    library = load_library()
    pieces = cut(modules(REPEATED), "Whole", frozenset(), alone=frozenset({"Part"}))
    netlist = Netlist({piece.name: piece for piece in map_pieces(pieces, library)}, "Whole")
    whole = longest_paths(netlist, macro_library([], load_process(), library), library, 20, reset=None)
    monkeypatch.setattr(shells, "LARGE", 100)
    made = shells.thinned(netlist, tmp_path, ["clock"], library.liberty.cells)
    files = {file.stem: file.read_text(encoding="utf-8") for file in made}
    top, inside = files["Whole"], netlist.parts["Part"].netlist.read_text(encoding="utf-8")
    assert [top.count(f"  {name} parts_") for name in ("Part", "Part_shell")] == [2, 2]
    assert 16 <= files["Part_shell"].count("  );") < inside.count("  );") / 2
    thin = longest_paths(netlist, macro_library([], load_process(), library), library, 20, reset=None)
    timed = [
        {path.end: path.depth_fo4 for path in found if not path.end.startswith(("parts_2", "parts_3"))}
        for found in (whole, thin)
    ]
    assert timed[0] == timed[1]
    assert len(timed[0]) >= 5


@needs_tools
def test_the_smallest_unit_is_as_in_the_table() -> None:
    _same_as_in_the_table(Configuration("stream-copy"))


@pytest.mark.long
@needs_tools
@pytest.mark.parametrize("each", configurations(), ids=lambda each: each.name)
def test_every_unit_is_as_in_the_table(each: Configuration) -> None:
    _same_as_in_the_table(each)


@needs_tools
def test_a_row_of_this_rtl_and_flow_is_kept_without_synthesis(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {row.configuration: row for row in read_table().values()}
    each = next(each for each in configurations() if each.name in rows)
    row = rows[each.name]
    written: list[list[Row]] = []
    told: list[str] = []
    monkeypatch.setattr(upkeep, "write_table", lambda found: written.append(list(found)))
    monkeypatch.setattr(upkeep, "flow_hash", lambda *_: row.flow_hash)
    there = Design(each.unit, {}, row.rtl_hash, {}, "Top")
    library, process = load_library([]), load_process(None)
    update_table([(each, there)], library, process, detail=told.append, done=told.append)
    assert told == []
    assert written == [[rows[known.name] for known in configurations() if known.name in rows]]
