"""Every example runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rackwright import Server, compile_program, elaborate_class

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CHISEL = EXAMPLES / "bring-your-own" / "chisel"


def run_script(script: Path, *arguments: Path) -> str:
    """Runs an example as a user does; gives what it prints."""
    result = subprocess.run(
        [sys.executable, script, *arguments], capture_output=True, text=True, timeout=1200, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def chisel_manifest() -> Path:
    """The Chisel version of the user's own unit, compiled and elaborated as the guide says."""
    subprocess.run([CHISEL / "compile.sh"], check=True, timeout=1200)
    return elaborate_class("example.PopulationCountUnit", CHISEL / "target" / "classes")


def test_hello() -> None:
    assert "hello, wright" in run_script(EXAMPLES / "hello" / "hello.py")


def test_a_udp_service() -> None:
    printed = run_script(EXAMPLES / "network" / "udp_service.py")
    assert "the client gets HELLO" in printed


def test_a_profile() -> None:
    printed = run_script(EXAMPLES / "profile" / "where.py")
    assert "20000" in printed
    assert "every cycle is in a stack: True" in printed


def test_the_notebook() -> None:
    """Its cells, one after the other in one namespace, as Jupyter runs them."""
    text = (EXAMPLES / "notebooks" / "first_steps.ipynb").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for cell in json.loads(text)["cells"]:
        if cell["cell_type"] == "code":
            assert not cell["outputs"], "a notebook is kept without what it showed"
            exec("".join(cell["source"]), names)
    assert names["result"].stdout == b"hello\n"
    assert list(names["speeds"]["input_bytes"]) == [310, 3100, 31000]
    assert names["run"].servers["answered"].sum() > 0


def test_sweep_history() -> None:
    lines = run_script(EXAMPLES / "sweep-history" / "sweep.py").splitlines()
    assert [int(line.split()[0]) for line in lines[1:]] == [2, 4, 8, 16, 32, 64]


@pytest.mark.parametrize("cpu", ["functional", "rocket", "boom"])
def test_snappy_queue(cpu: str) -> None:
    program = compile_program([EXAMPLES / "snappy-queue" / "queue.c"], options=["-Wall", "-Werror"])
    result = Server(cpu, ["snappy"]).run(program)
    assert result.exit_code == 0, result.stdout
    assert result.stdout.count(b"20000 ->") == 6


@pytest.mark.parametrize("script", ["alone.py", "attach.py"])
def test_your_own_unit_in_systemverilog(script: str) -> None:
    assert "ones" in run_script(EXAMPLES / "bring-your-own" / script)


@pytest.mark.parametrize("script", ["alone.py", "attach.py"])
def test_your_own_unit_in_chisel(script: str, chisel_manifest: Path) -> None:
    assert "ones" in run_script(EXAMPLES / "bring-your-own" / script, chisel_manifest)
