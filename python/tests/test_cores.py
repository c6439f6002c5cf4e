"""Core files of FuseSoC: their sources, dependencies, macros and parameters become a manifest that runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from command_line import REPOSITORY, rw

from rackwright import RackwrightError, Unit
from rackwright.verilog.known import Known
from rackwright.verilog.scan import scan

COUNTER = REPOSITORY / "examples" / "bring-your-own" / "systemverilog" / "PopulationCount.sv"

CORE = """CAPI=2:
name: ::population-count:1.0
filesets:
  rtl:
    depend: ["::constants:0"]
    files: [rtl/Top.sv]
    file_type: systemVerilogSource
  bench:
    files: [bench/Bench.sv]
    file_type: systemVerilogSource
parameters:
  OUTSTANDING: {datatype: int, paramtype: vlogparam, default: 8}
  EXTRA: {datatype: int, paramtype: vlogdefine, default: 100}
targets:
  default:
    filesets: [rtl]
    toplevel: PopulationCount
    parameters: [OUTSTANDING, EXTRA=40]
  sim:
    filesets: [rtl, bench]
    toplevel: Bench
    parameters: [EXTRA]
"""

CONSTANTS = """CAPI=2:
name: ::constants:0
filesets:
  rtl:
    files:
      - Constants.sv: {file_type: systemVerilogSource}
      - include/offset.svh: {is_include_file: true, file_type: systemVerilogSource}
targets:
  default: {filesets: [rtl]}
"""


@pytest.fixture
def core(tmp_path: Path) -> Path:
    """A unit that counts ones, and adds constants that other files and the core file have."""
    for folder in ("rtl", "bench", "constants/include"):
        (tmp_path / folder).mkdir(parents=True)
    text = COUNTER.read_text(encoding="utf-8")
    (tmp_path / "rtl" / "Top.sv").write_text(f'`include "offset.svh"\n{text}', encoding="utf-8")
    (tmp_path / "bench" / "Bench.sv").write_text("module Bench; endmodule\n", encoding="utf-8")
    (tmp_path / "constants" / "Constants.sv").write_text("package constants; endpackage\n", encoding="utf-8")
    (tmp_path / "constants" / "include" / "offset.svh").write_text(
        "`ifndef EXTRA\nmodule no_macro(;\n`endif\n", encoding="utf-8"
    )
    (tmp_path / "constants" / "constants.core").write_text(CONSTANTS, encoding="utf-8")
    path = tmp_path / "count.core"
    path.write_text(CORE, encoding="utf-8")
    return path


def test_a_core_becomes_a_manifest_that_runs(core: Path) -> None:
    manifest = core.parent / "manifest.json"
    ended = rw("units", "scan", core, "-o", manifest)
    assert ended.status == 0, ended.stderr
    record = json.loads(manifest.read_text(encoding="utf-8"))
    assert record["verilog"] == ["constants/Constants.sv", "rtl/Top.sv"]
    assert record["include"] == ["constants/include"]
    assert record["define"] == {"EXTRA": 40}
    assert record["parameters"] == {"OUTSTANDING": 8}
    unit = Unit(manifest)
    buffer = unit.load(b"\x07")
    unit.command(0, buffer.address, buffer.length)
    assert unit.query(1) == 3


def test_another_target_has_other_sources(core: Path) -> None:
    with pytest.raises(RackwrightError, match="no input has the name of a clock"):
        scan([core], core.parent, Known(target="sim"))
    found = scan([core], core.parent, Known(top="PopulationCount", target="sim"))
    assert found.manifest["verilog"] == ["constants/Constants.sv", "rtl/Top.sv", "bench/Bench.sv"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("CAPI=2:", "CAPI=2"), "is not a core file: its first line must be `CAPI=2:`"),
        (("targets:", "targts:"), "is not a core file: "),
        (("::constants:0", "::constant:0"), "constant"),
        (("  default:\n", "  lint:\n"), "has no target default; there are lint, sim"),
        (("[rtl/Top.sv]", "[rtl/Topp.sv]"), "rtl/Topp.sv: no such file"),
        (("EXTRA=40]", "EXTRAS=40]"), "Parameter 'EXTRAS', requested by target 'default'"),
        (
            ("    file_type: systemVerilogSource\n  bench", "    file_type: user\n  bench"),
            r"Constants\.sv: 'PopulationCount' is not a valid top-level module",
        ),
    ],
)
def test_a_wrong_core_is_one_line(core: Path, change: tuple[str, str], said: str) -> None:
    core.write_text(CORE.replace(*change), encoding="utf-8")
    with pytest.raises(RackwrightError, match=said) as raised:
        scan([core], core.parent)
    assert "\n" not in str(raised.value)


def test_what_fusesoc_fetches_is_left_to_it(core: Path) -> None:
    provider = "provider: {name: github, user: someone, repo: count, version: v1}\n"
    core.write_text(CORE + provider, encoding="utf-8")
    with pytest.raises(RackwrightError, match=r"count\.core: has sources that FuseSoC fetches or generates"):
        scan([core], core.parent)


def test_a_core_is_given_alone(core: Path) -> None:
    shutil.copy(COUNTER, core.parent)
    with pytest.raises(RackwrightError, match="give no other files"):
        scan([core, core.parent / COUNTER.name], core.parent)
    with pytest.raises(RackwrightError, match="--target is for core files"):
        scan([COUNTER], core.parent, Known(target="sim"))
