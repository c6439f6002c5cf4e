"""The harness of chips, with a small top in place of a generated one; and the module of two systems."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from pcap_files import frames_of_pcap

from rackwright import RackwrightError, compile_bare_metal
from rackwright.hardware.toolchain import verilator_root
from rackwright.soc import Soc
from rackwright.soc.check import PlacedUnit
from rackwright.soc.harness import write_harness
from rackwright.soc.pair import TopPort, pair_module, top_ports
from rackwright.soc.projects import core_file
from rackwright.soc.simulator import run_program
from rackwright.unit.config import UnitConfig
from rackwright.verilog.reader import VerilogDesign, VerilogSources

TOP = Path(__file__).parent / "fixtures" / "HarnessSoc.sv"

STREAMS = tuple({"contract": "stream", "name": way, "direction": way, "bytes": 8} for way in ("out", "in"))


LINK_CYCLES = 50


def harness(folder: Path, *, dram: bool = False) -> Path:
    """A folder as `compose` writes it, of the top of these tests."""
    folder.mkdir()
    soc = replace(Soc("harness"), link_cycles=LINK_CYCLES, dram=dram)
    write_harness(soc, [PlacedUnit("net", None, UnitConfig("nic"), (), STREAMS)], folder / "harness")
    (folder / TOP.name).write_bytes(TOP.read_bytes())
    description = {
        "top": soc.top,
        "files": [TOP.name],
        "models": [],
        "include": [],
        "systems": 1,
        "streams": True,
        "dram": dram,
    }
    (folder / "soc.json").write_text(json.dumps(description), encoding="utf-8")
    return folder


@pytest.mark.long("half a minute of a processor: Verilator's own build of the harness")
def test_fusesoc_builds_the_simulator_of_a_chip(tmp_path: Path) -> None:
    folder = harness(tmp_path / "chip")
    soc = Soc("harness")
    sources = [f"harness/{path.name}" for path in sorted((folder / "harness").iterdir())]
    (folder / "harness.core").write_text(core_file(soc, [TOP.name], [], sources), encoding="utf-8")
    tools = [str(Path(sys.executable).parent), str(verilator_root() / "bin"), os.environ["PATH"]]
    environment = {**os.environ, "PATH": os.pathsep.join(tools), "XDG_CONFIG_HOME": str(tmp_path)}
    build = ["fusesoc", "--cores-root", str(folder), "run", "--target", "simulation", "--setup", "--build"]
    ended = subprocess.run(
        [*build, f"rackwright:soc:{soc.name}"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, (ended.stdout + ended.stderr)[-3000:]
    (simulator,) = tmp_path.glob(f"build/**/V{soc.top}")
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n", encoding="utf-8")
    program = compile_bare_metal([tmp_path / "main.c"], tmp_path / "main.elf")
    ended = subprocess.run([str(simulator), str(program)], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "B")


def folded_code(program: Path) -> bytes:
    """The first 64 bytes at the entry of a program, eight words combined by exclusive or."""
    data = program.read_bytes()
    (headers,) = struct.unpack_from("<Q", data, 32)
    kind, _, offset, _, place = struct.unpack_from("<IIQQQ", data, headers)
    while kind != 1 or place != 0x8000_0000:
        headers += 56
        kind, _, offset, _, place = struct.unpack_from("<IIQQQ", data, headers)
    folded = 0
    for word in struct.unpack_from("<8Q", data, offset):
        folded ^= word
    return folded.to_bytes(8, "little")


def test_a_chip_is_told_its_words_and_joined_with_a_second_one(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n", encoding="utf-8")
    program = compile_bare_metal([tmp_path / "main.c"], tmp_path / "main.elf")
    folder = harness(tmp_path / "chip")
    alone = run_program(folder, program)
    assert (alone.exit_code, alone.stdout) == (0, "B")

    capture = tmp_path / "frames.pcap"
    joined = run_program(folder, program, arguments=["word"], second=program, frames=capture)
    frames = [bytes([each, 0, 16, 172, 0, 0, 0, 0]) + folded_code(program)[:5] for each in (2, 3)]
    assert frames_of_pcap(capture) == frames
    received = frames[1][8] ^ frames[1][0] ^ frames[1][9]
    assert (joined.exit_code, joined.stdout) == (received, "C")
    # Both send in the same cycles, so that the first one waits for as long as the link takes.
    assert joined.cycles == alone.cycles + LINK_CYCLES
    assert run_program(folder, program, max_cycles=3).exit_code is None


def test_programs_that_a_chip_does_not_take_are_refused(tmp_path: Path) -> None:
    for description, asked, said in (
        ({"systems": 2, "streams": False}, {}, "has two systems: --second"),
        ({"systems": 1, "streams": False}, {"second": TOP}, "--second: S has no streams"),
        (
            {"systems": 2, "streams": False},
            {"second": TOP, "frames": TOP},
            "--frames: S has no streams",
        ),
    ):
        (tmp_path / "soc.json").write_text(json.dumps({"top": "S", **description}), encoding="utf-8")
        with pytest.raises(RackwrightError, match=said):
            run_program(tmp_path, TOP, **asked)  # type: ignore[arg-type]


SYSTEM = """module OneSoc(
  input         clock,
  input         reset,
  output        mem_valid,
  input  [7:0]  mem_data,
  input         nic_out_ready,
  output        nic_out_valid,
  output [63:0] nic_out_bits_data,
  output [7:0]  nic_out_bits_keep,
  output        nic_out_bits_last,
  output        nic_in_ready,
  input         nic_in_valid,
  input  [63:0] nic_in_bits_data,
  input  [7:0]  nic_in_bits_keep,
  input         nic_in_bits_last
);
  assign nic_out_valid = mem_data[0];
  assign nic_out_bits_data = {56'h0, mem_data};
  assign nic_out_bits_keep = 8'h1;
  assign nic_out_bits_last = 1'h1;
  assign nic_in_ready = 1'h1;
  assign mem_valid = nic_in_valid & nic_in_bits_data[1] & nic_out_ready;
endmodule
"""


def test_a_pair_joins_each_stream_with_that_of_the_other_system(tmp_path: Path) -> None:
    ports = top_ports(SYSTEM, "OneSoc")
    assert ports[3] == TopPort("input", "[7:0]", "mem_data")
    text = pair_module("PairSoc", "OneSoc", ports, ("nic_out", "nic_in"), ("system0_", "system1_"))
    (tmp_path / "pair.v").write_text(SYSTEM + text, encoding="utf-8")
    design = VerilogDesign(VerilogSources((tmp_path / "pair.v",), top="PairSoc"))
    assert [str(each) for each in design.complaints] == []
    (top,) = design.tops
    assert [pin.name for pin in top.body.portList] == [
        "clock",
        "reset",
        *(f"system{number}_mem_{pin}" for number in (0, 1) for pin in ("valid", "data")),
    ]
    assert ".nic_in_valid(system1_nic_out_valid)" in text.split("OneSoc system1")[0]
    assert ".nic_out_ready(system0_nic_out_ready)" in text.split("OneSoc system1")[0]
    with pytest.raises(RackwrightError, match="no module TwoSoc"):
        top_ports(SYSTEM, "TwoSoc")
