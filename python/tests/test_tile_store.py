"""A store behind the network on tiles, and programs in their place."""

from __future__ import annotations

import pytest
from command_line import REPOSITORY, rw

from rackwright import Server
from rackwright.reproduce.pengwing.lookups import run_gets, server

TILES = REPOSITORY / "examples" / "tiles"


def test_the_graph_of_the_example_is_legal() -> None:
    graph = TILES / "store.graph.yaml"
    assert rw("tiles", "check", TILES / "store.yaml", "--graph", graph, "--json").json()["legal"] is True


@pytest.fixture(scope="module")
def tiles() -> Server:
    return server()


@pytest.mark.long("the store on a tile is compiled for it")
@pytest.mark.parametrize("by", ["uu", "up", "pu"])
def test_each_service_is_a_unit_or_a_program(tiles: Server, by: str) -> None:
    """Every value is the one that was stored; the same run has the same digest."""
    run = run_gets(by, 16, on=tiles)
    assert list(run.points) == [1, 2, 4, 8, 16]
    assert run.digest == run_gets(by, 16, on=tiles).digest
