"""Queues with several producers and consumers: programs, and a unit on a tile among them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiers import long
from tile_programs import said

from rackwright import compile_program

SOURCE = Path(__file__).parent / "fixtures" / "shared_queues.c"

TILES = """
mesh: {width: 3, height: 2}
tiles:
  hart0: {at: [0, 0], hart: true}
  hart1: {at: [1, 0], hart: true}
  hart2: {at: [2, 0], hart: true}
  hart3: {at: [0, 1], hart: true}
  copy: {at: [1, 1], unit: stream-copy}
"""


@pytest.fixture(scope="module")
def tiles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four harts, and the unit of test_tile_queues.py."""
    file = tmp_path_factory.mktemp("tiles") / "tiles.yaml"
    file.write_text(TILES)
    return file


@pytest.fixture(scope="module")
def program() -> Path:
    return compile_program([SOURCE], options=["-pthread", "-Wall", "-Wextra", "-Werror"])


def test_what_one_program_sees(tiles: Path, program: Path) -> None:
    assert said(tiles, program, "alone") == ["as it should be"]


def test_the_kinds_of_queues_that_a_tile_takes(tiles: Path, program: Path) -> None:
    expected = ["size 2", "size of answers 3", "length 2", "right 1", "of both kinds 1"]
    assert said(tiles, program, "wrong") == expected


@pytest.mark.parametrize(
    ("server", "producers", "consumers"),
    [("program", 2, 1), ("unit", 2, 2), ("unit", 3, 1), ("both", 2, 1)],
)
@pytest.mark.parametrize("seed", [5, *(long(seed, why="other pauses") for seed in range(6, 16))])
def test_each_request_is_answered_once(
    tiles: Path, program: Path, server: str, producers: int, consumers: int, seed: int
) -> None:
    """Requests of several programs, answered by a unit, a program, or both, to several programs."""
    line = f"{60 * producers} answers, 0 wrong, each consumer some, all servers some, state 0"
    assert said(tiles, program, server, producers, consumers, seed) == [line]
