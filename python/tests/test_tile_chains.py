"""Units that pass their results on to other units through queues, with no program in between."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import REPOSITORY
from tile_programs import said

from rackwright import compile_program
from rackwright.tiles import check, read_graph, read_layout

EXAMPLES = REPOSITORY / "examples" / "tiles"
SOURCE = Path(__file__).parent / "fixtures" / "tile_chains.c"

TILES = """
mesh: {width: 2, height: 2}
tiles:
  hart: {at: [0, 0], hart: true}
  first: {at: [1, 0], unit: stream-copy}
  second: {at: [0, 1], unit: stream-copy}
  third: {at: [1, 1], unit: stream-copy}
"""


@pytest.fixture(scope="module")
def tiles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three tiles with the unit of test_tile_queues.py."""
    file = tmp_path_factory.mktemp("tiles") / "tiles.yaml"
    file.write_text(TILES)
    return file


@pytest.fixture(scope="module")
def program() -> Path:
    return compile_program([SOURCE], options=["-Wall", "-Wextra", "-Werror"])


def test_payloads_go_through_two_units(tiles: Path, program: Path) -> None:
    """At 8 bytes a cycle at least: the whole way, of 64 payloads."""
    (line,) = said(tiles, program, "through", 4096)
    speed, rest = line.split(" ", 1)
    assert rest == "bytes a cycle, 0 wrong, state 0"
    assert float(speed) >= 8


def test_a_failure_is_passed_on_to_the_end(tiles: Path, program: Path) -> None:
    """The first two are of the first unit, the third of the second, which counts what it has tried."""
    assert said(tiles, program, "failures") == [
        "0 access_fault 0",
        "1 output_full 0",
        "2 access_fault 100",
        "3 unsupported 0",
        "4 ok 100",
        "state 0, nothing else written",
    ]


def test_without_a_spare_buffer_the_input_is_replaced(tiles: Path, program: Path) -> None:
    assert said(tiles, program, "back") == ["1000 bytes, state 0"]


def test_two_units_take_from_one_queue_and_give_to_one(tiles: Path, program: Path) -> None:
    assert said(tiles, program, "shared") == ["0 wrong, state 0"]


def test_graphs_change_while_elements_are_under_way(tiles: Path, program: Path) -> None:
    """Each arrives once, in its order, whichever units it has passed."""
    assert said(tiles, program, "rewired") == ["40 turns, elements under way, 0 wrong, state 0"]


def test_no_graph_is_connected_to_a_tile_that_has_stopped(tiles: Path, program: Path) -> None:
    assert said(tiles, program, "wrongly") == ["refused, state 1"]


def test_the_graph_of_a_chain_is_judged() -> None:
    """The example is legal, and refused with a window that fills all three queues."""
    layout = read_layout(EXAMPLES / "two-by-two.yaml")
    graph = read_graph(EXAMPLES / "relay.graph.yaml")
    assert check(layout, graph).legal


def test_a_chain_that_can_deadlock_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "graph.yaml"
    file.write_text((EXAMPLES / "relay.graph.yaml").read_text().replace("window: 16", "window: 99"))
    verdict = check(read_layout(EXAMPLES / "two-by-two.yaml"), read_graph(file))
    assert verdict.witness == ("client", "asked", "copier", "copied", "compressor", "ended")
