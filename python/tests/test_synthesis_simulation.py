"""Units in gates, as synthesis makes them, do in each cycle what their RTL does."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from nic_echo import echo

from rackwright import Unit, elaborate
from rackwright.synthesis.library import DEFAULT_LIBERTY, load_library
from rackwright.synthesis.process import load_process
from rackwright.synthesis.simulation import write_gates
from rackwright.unit.commands import Completion, operate
from rackwright.unit.nic import NicUnit

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not DEFAULT_LIBERTY.exists(), reason="the packages of synthesis are not installed"),
]

HUNG = 10_000_000
NOISE = random.Random(5).randbytes(70_000)


@pytest.fixture(scope="module")
def copiers(tmp_path_factory: pytest.TempPathFactory) -> tuple[Unit, Unit]:
    """A copy unit in RTL and in gates."""
    return Unit("stream-copy"), Unit(in_gates("stream-copy", tmp_path_factory.mktemp("gates")))


def in_gates(unit: str, folder: Path) -> Path:
    """The manifest of a unit in gates, its memories as models."""
    return write_gates(elaborate(unit), load_library(), load_process(), folder)


def copy(unit: Unit, data: bytes, room: int, misalignment: tuple[int, int]) -> tuple[Completion, bytes]:
    """One operation, and what it wrote."""
    unit.release_all()
    source = unit.load(data, misalignment=misalignment[0])
    target = unit.reserve(room, "rw", misalignment[1])
    ended = operate(unit, source, target, max_cycles=HUNG)
    return ended, unit.read(target, min(ended.output_bytes, room))


def assert_equal_runs(rtl: Unit, gates: Unit) -> None:
    """All that has passed the ports of both was the same in every cycle."""
    assert gates.cycle == rtl.cycle
    assert gates.digest == rtl.digest
    assert gates.violations == rtl.violations == 0


@pytest.mark.parametrize("misalignment", [(0, 0), (7, 29)])
@pytest.mark.parametrize("length", [0, 1, 77, 4096, len(NOISE)])
def test_copies(copiers: tuple[Unit, Unit], length: int, misalignment: tuple[int, int]) -> None:
    results = [copy(unit, NOISE[:length], length, misalignment) for unit in copiers]
    assert results[0] == results[1]
    assert (results[1][0].status, results[1][1]) == ("ok", NOISE[:length])
    assert_equal_runs(*copiers)


@pytest.mark.parametrize("room", [0, 1, 100, 4_999])
def test_too_little_room(copiers: tuple[Unit, Unit], room: int) -> None:
    results = [copy(unit, NOISE[:5_000], room, (3, 5)) for unit in copiers]
    assert results[0] == results[1]
    assert results[1][0].status == "output_full"
    assert_equal_runs(*copiers)


@pytest.mark.long("a minute of mapping; the copier shows that gates do what RTL does")
def test_a_network_interface(tmp_path: Path) -> None:
    nics = NicUnit(), NicUnit(design=in_gates("nic", tmp_path))
    for nic in nics:
        echo(nic)
    assert_equal_runs(*(nic.unit for nic in nics))
