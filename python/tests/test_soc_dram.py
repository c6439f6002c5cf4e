"""The timing of DRAM in the harness of chips: the model of the engine behind its C interface."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from test_soc import EXAMPLES, copy_program
from test_soc_harness import harness

from bootstrap.paths import SOC_DRAM
from rackwright import RackwrightError, compile_bare_metal
from rackwright.soc import Soc, checked, compose
from rackwright.soc.compare import run_modelled
from rackwright.soc.simulator import run_program, simulator

CLOSED = 98
"""Cycles of 2 GHz of a read of a closed row: 20 ns of the controller, tRCD, tCL, and two register slices."""


class Channel:
    """A channel of DRAM through its library, as the harness uses it."""

    def __init__(self, clock_hz: int) -> None:
        self._library = ctypes.CDLL(str(SOC_DRAM))
        number, pointer = ctypes.c_uint64, ctypes.c_void_p
        self._library.rackwright_dram_create.restype = pointer
        self._library.rackwright_dram_create.argtypes = [number]
        self._library.rackwright_dram_access.restype = number
        self._library.rackwright_dram_access.argtypes = [pointer, number, number, ctypes.c_bool]
        self._library.rackwright_dram_destroy.argtypes = [pointer]
        self.dram = self._library.rackwright_dram_create(clock_hz)

    def access(self, cycle: int, address: int, *, write: bool = False) -> int:
        """The cycle of the response."""
        return int(self._library.rackwright_dram_access(self.dram, cycle, address, write))

    def end(self) -> None:
        """Lets go of it."""
        self._library.rackwright_dram_destroy(self.dram)


@pytest.fixture
def channel() -> Iterator[Channel]:
    made = Channel(2_000_000_000)
    yield made
    made.end()


def test_rows_are_opened_and_closed_in_the_times_of_the_standard(channel: Channel) -> None:
    # At 2 GHz, 28 cycles each for activating, for a column and for precharging.
    assert channel.access(1000, 0) - 1000 == CLOSED
    assert channel.access(2000, 64) - 2000 == CLOSED - 28
    # Row 4 of the same bank: its bits permute the banks.
    assert channel.access(3000, (16 * 4 + 4) * 8192) - 3000 == CLOSED + 28


def test_a_stream_has_the_rate_of_the_channel(channel: Channel) -> None:
    last = max(channel.access(number, 64 * number) for number in range(1000))
    assert 64 * 1000 / (last / 2) == pytest.approx(25.6, rel=0.1)


def test_a_clock_outside_of_the_model_is_refused() -> None:
    assert Channel(1).dram is None
    slow = replace(Soc("slow"), dram=True, clock_hz=50_000_000)
    with pytest.raises(RackwrightError, match=r"harness\.dram: .* 50000000"):
        checked(slow)


def test_a_chip_has_a_fixed_latency_or_that_of_dram(tmp_path: Path) -> None:
    path = tmp_path / "both.yaml"
    parts = {"name": "both", "system": {"harts": [{"units": []}]}}
    both = {**parts, "harness": {"dram": True, "memory_cycles": 3}}
    path.write_text(yaml.safe_dump(both), encoding="utf-8")
    with pytest.raises(RackwrightError, match=r"harness\.memory_cycles is a fixed latency"):
        Soc.load(path)
    path.write_text(yaml.safe_dump({**parts, "harness": {"dram": True}}), encoding="utf-8")
    soc = Soc.load(path)
    assert soc.dram
    with pytest.raises(RackwrightError, match="needs memory with a fixed latency"):
        run_modelled(soc, tmp_path / "main.elf")


def test_the_harness_waits_for_dram(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n", encoding="utf-8")
    program = compile_bare_metal([tmp_path / "main.c"], tmp_path / "main.elf")
    folders = [harness(tmp_path / name, dram=name == "dram") for name in ("fixed", "dram")]
    fixed, dram = (run_program(folder, program) for folder in folders)
    assert (fixed.exit_code, fixed.stdout) == (dram.exit_code, dram.stdout) == (0, "B")
    channel = Channel(2_000_000_000)
    read = [channel.access(at, address) - at for at, address in ((0, 0x8FFF_F000), (500, 0x8000_0000))]
    channel.end()
    assert dram.cycles - fixed.cycles == sum(read) - 2 * 12
    for folder, options, said in (
        (folders[1], [], "its memory is DRAM: --dram is the library with the model"),
        (folders[0], ["--dram", str(SOC_DRAM)], "--dram: the chip was composed for memory with a fixed"),
        (folders[1], ["--dram", str(program)], "main.elf: "),
    ):
        command = [str(simulator(folder)), *options, str(program)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (ended.returncode, ended.stdout) == (255, "")
        assert said in ended.stderr
        assert ended.stderr.count("\n") == 1


@pytest.mark.long("three minutes of a processor: a chip is generated and compiled")
def test_a_chip_in_front_of_dram_computes_the_same_later(tmp_path: Path) -> None:
    soc = Soc.load(EXAMPLES / "tiny.yaml")
    folders = [tmp_path / name for name in ("fixed", "dram")]
    for folder, modelled in zip(folders, (False, True), strict=True):
        assert compose(replace(soc, dram=modelled), folder)["dram"] is modelled
    program = copy_program(tmp_path, folders[0] / "hart0.h")
    fixed, dram = (run_program(folder, program) for folder in folders)
    assert (fixed.exit_code, dram.exit_code) == (0, 0)
    print(fixed.stdout, dram.stdout)
    assert fixed.cycles < dram.cycles < 3 * fixed.cycles
    assert run_program(folders[1], program).cycles == dram.cycles
