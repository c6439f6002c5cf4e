"""Harts of a chip are halted and examined by its pins for JTAG."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from bootstrap.paths import REPOSITORY
from bootstrap.software import RISCV
from rackwright import RackwrightError
from rackwright.machine.programs import run_compiler
from rackwright.soc import Soc, checked, compose
from rackwright.soc.projects import constraints
from rackwright.soc.simulator import simulator

FIXTURES = Path(__file__).parent / "fixtures"
EXAMPLE = REPOSITORY / "examples" / "soc" / "debug.yaml"


def test_pins_for_a_probe_have_a_clock_and_the_module_a_place(tmp_path: Path) -> None:
    soc = Soc.load(EXAMPLE)
    assert soc.debug
    assert checked(soc) == []
    lines = constraints(soc).splitlines()
    assert "create_clock -name debug_systemjtag_jtag_TCK -period 100.0000" in "\n".join(lines)
    assert "set_clock_groups -asynchronous -group clock -group debug_systemjtag_jtag_TCK" in lines
    (tmp_path / "odd.yaml").write_text(EXAMPLE.read_text("utf-8").replace("true", "jtag"), encoding="utf-8")
    with pytest.raises(RackwrightError, match=r"pins\.debug.*'jtag', not true or false"):
        Soc.load(tmp_path / "odd.yaml")


@pytest.mark.long("five minutes of a processor: a chip is generated and compiled")
def test_a_probe_halts_a_hart_reads_and_writes_its_registers_and_lets_it_go_on(tmp_path: Path) -> None:
    soc, folder = Soc.load(EXAMPLE), tmp_path / "debug"
    description = compose(soc, folder)
    assert {"name": "the debug module", "base": 0, "size": 4096} in description["address_map"]
    assert json.dumps(description["clocks"]).count("debug_systemjtag") == 2
    program = tmp_path / "waits.elf"
    options = [
        "-nostdlib",
        "-static",
        "-Wl,-N,-Ttext=0x80000000,--build-id=none",
        "-march=rv64g",
        "-mabi=lp64d",
    ]
    source = [f"-DTO_HOST={soc.to_host:#x}", str(FIXTURES / "soc_halted.S"), "-o", str(program)]
    run_compiler([f"{RISCV.compiler_prefix}gcc", *options, *source], program)
    # A probe in place of the harness's own program.
    shutil.copyfile(FIXTURES / "soc_jtag.cpp", folder / "harness" / "main.cpp")
    probe = [str(simulator(folder)), str(program)]
    ended = subprocess.run(probe, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout.split()) == (0, ["51234913", "0123456789abcdef"]), ended.stderr
