"""Harts that sleep until a tile interrupts them: nothing is missed, and nothing is executed meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import REPOSITORY
from tiers import long
from tile_programs import MOST_CYCLES, TILES, record_of

from rackwright import RunResult, Server, compile_network_program, compile_program
from rackwright.tiles.layout import read_layout
from rackwright.tiles.machine import tile_configs

SOURCE = Path(__file__).parent / "fixtures" / "tile_sleep.c"
STRICT = ["-Wall", "-Wextra", "-Werror"]
RIGHT = {"late": 1, "elements": 150, "room": 150, "stopped": 2}
"""What a program says of each thing that it tries: right answers, or the state of the tile."""


@pytest.fixture(scope="module", params=["user mode", "bare metal"])
def program(request: pytest.FixtureRequest) -> Path:
    if request.param == "user mode":
        return compile_program([SOURCE], options=["-pthread", *STRICT])
    options = [f"-I{REPOSITORY / 'examples' / 'soc'}", *STRICT]
    return compile_network_program([SOURCE], options=options)


@pytest.fixture
def tiles(tmp_path: Path) -> Path:
    file = tmp_path / "tiles.yaml"
    file.write_text(TILES)
    return file


@pytest.mark.parametrize("what", ["late", "stopped"])
def test_a_hart_sleeps_until_its_tile_has_what_is_late(tiles: Path, program: Path, what: str) -> None:
    record = record_of(tiles, program, what, 1)
    assert record["stdout"] == f"{what} {RIGHT[what]}\n"


@pytest.mark.parametrize("what", ["elements", "room"])
@pytest.mark.parametrize("seed", [1, *(long(seed, why="other pauses") for seed in range(2, 12))])
def test_no_wake_up_is_lost(tiles: Path, program: Path, what: str, seed: int) -> None:
    assert record_of(tiles, program, what, seed)["stdout"] == f"{what} {RIGHT[what]}\n"


def test_cycles_asleep_are_skipped_and_change_nothing(tiles: Path, program: Path) -> None:
    skipped, clocked = (late(tiles, program, skip_idle) for skip_idle in (True, False))
    assert skipped.stdout == clocked.stdout == b"late 1\n"
    assert skipped.digest == clocked.digest
    assert skipped.unit_cycles < 10_000 < 100_000 < clocked.unit_cycles


def late(tiles: Path, program: Path, skip_idle: bool) -> RunResult:
    """A run of two harts, of which one is late."""
    server = Server("rocket", tile_configs(read_layout(tiles)), harts=2, skip_idle=skip_idle)
    return server.run(program, ["late", "1"], max_cycles=MOST_CYCLES)
