"""Memory behind the mesh: the places of tiles determine times, and messages take as long in RTL."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from command_line import REPOSITORY, rw
from tile_programs import TILES, run

from rackwright import RackwrightError, Server
from rackwright.benchmarks.mesh import SMALL
from rackwright.benchmarks.mesh_replay import RUNS, ReplayRow, measure
from rackwright.hardware.designs import design
from rackwright.machine.programs import compile_program
from rackwright.tiles import Layout, Mesh, Place, Tile, read_layout

EXAMPLES = REPOSITORY / "examples" / "tiles"
COPY = EXAMPLES / "copy.c"
THREE_BY_THREE = EXAMPLES / "three-by-three.yaml"
BEHIND_MESH = TILES.replace("height: 2", "height: 2, interconnect: mesh")

TILES_OF_SMALL = Layout(
    replace(SMALL, flit_bytes=16),
    (
        Tile("hart0", Place(0, 0)),
        Tile("hart1", Place(2, 1)),
        Tile("copy", Place(2, 0), "stream-copy"),
        Tile("next", Place(0, 1), "stream-copy"),
    ),
    memory=Place(1, 1),
)
"""On the mesh that other tests have compiled, with few places in its queues."""


def test_messages_of_a_run_take_as_long_in_rtl() -> None:
    rtl = design("mesh", SMALL.parameters(), assertions=True)
    [row] = measure(TILES_OF_SMALL, ["queue"], design=rtl)
    check(row)
    [again] = measure(TILES_OF_SMALL, ["queue"], rtl=False)
    assert again.digest == row.digest, "the model is exact to the cycle"


def test_messages_of_several_harts_take_as_long_in_the_exact_model() -> None:
    [row] = measure(read_layout(THREE_BY_THREE), ["callers"], rtl=False)
    check(row)


def check(row: ReplayRow) -> None:
    """The means differ by at most 5 %, and messages that met no other take as long."""
    assert row.verified, row
    assert row.run_latency == pytest.approx(row.mean_latency, rel=0.05)
    assert row.messages > 1000
    assert row.alone > 100
    assert row.alone == row.alone_equal


def test_times_of_another_mesh_are_noticed() -> None:
    rtl = design("mesh", SMALL.parameters(), assertions=True)
    faster = replace(TILES_OF_SMALL, mesh=replace(TILES_OF_SMALL.mesh, stages=0))
    [row] = measure(faster, ["queue"], design=rtl)
    assert not row.verified
    assert row.alone_equal < row.alone


@pytest.mark.long("the mesh of 3 x 3 tiles is compiled, and millions of cycles of it simulated")
def test_messages_of_all_runs_on_three_by_three_tiles() -> None:
    for row in measure(read_layout(THREE_BY_THREE)):
        check(row)


def test_a_program_does_the_same_behind_the_mesh_and_takes_longer(tmp_path: Path) -> None:
    program = compile_program([COPY])
    source = REPOSITORY / "README.md"
    records = []
    for number, text in enumerate((TILES, BEHIND_MESH, BEHIND_MESH)):
        tiles, copied = tmp_path / f"{number}.yaml", tmp_path / f"copied{number}"
        tiles.write_text(text)
        ended = run(tiles, program, "--write-folder", tmp_path, "--", source, copied)
        records.append(ended.json())
        assert copied.read_bytes() == source.read_bytes()
    crossbar, mesh, again = records
    assert mesh["cycles"] > crossbar["cycles"]
    assert mesh["cycles"] == again["cycles"]


def test_a_unit_beside_its_hart_takes_less_time_than_a_far_one() -> None:
    def cycles(place: Place) -> int:
        tiles = (Tile("hart", Place(0, 0)), Tile("copy", place, "stream-copy"))
        [row] = measure(Layout(Mesh(8, 1), tiles), ["queue"], rtl=False)
        return row.cycles

    assert cycles(Place(7, 0)) > cycles(Place(1, 0))


def test_wrong_words_are_refused_in_a_line(tmp_path: Path) -> None:
    tiles = tmp_path / "tiles.yaml"
    tiles.write_text(TILES.replace("height: 2", "height: 2, interconnect: bus"))
    ended = rw("tiles", "check", tiles)
    assert ended.status == 1
    assert "interconnect is 'bus'; there are crossbar, mesh" in ended.stderr
    ended = rw("bench", "mesh", "--run", "spmv")
    assert (ended.status, "--run goes with --replay" in ended.stderr) == (1, True)
    ended = rw("bench", "mesh", "--replay", "--rate", "0.1")
    assert (ended.status, "--rate and --flits are of random traffic" in ended.stderr) == (1, True)
    with pytest.raises(RackwrightError, match="no run nothing; there are queue, "):
        next(measure(TILES_OF_SMALL, ["nothing"], rtl=False))
    assert set(RUNS) == {"queue", "batches", "callers", "packets", "spmv", "bfs"}


def test_servers_in_clusters_and_linux_with_a_network_have_a_crossbar(tmp_path: Path) -> None:
    tiles = tmp_path / "tiles.yaml"
    tiles.write_text(BEHIND_MESH)
    ended = rw("boot", "--tiles", tiles, "--run", "true", "--net", "user")
    assert ended.status == 1
    assert "a network or a fabric needs it behind a crossbar" in ended.stderr
    server = Server(tiles=tiles)
    with pytest.raises(RackwrightError, match="memory behind the mesh is for servers that run alone"):
        server.describe({server: "one"})
