"""What `rw bench queues` says, and the table that it has written."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import rw
from tile_programs import TILES

from rackwright import Server, compile_program
from rackwright.benchmarks import peers
from rackwright.benchmarks.queues import (
    PACKETS,
    PROGRAM,
    TABLE,
    QueueRow,
    gains,
    measure_callers,
    measure_packets,
    measure_row,
)
from rackwright.machine.parameters import ServerParameters
from rackwright.reports.records import read_records
from rackwright.tiles.layout import read_layout
from rackwright.tiles.machine import tile_server
from rackwright.unit.config import UnitConfig

ONE_UNIT = """
mesh: {width: 1, height: 2}
tiles:
  hart: {at: [0, 0], hart: true}
  copy: {at: [0, 1], unit: %s}
"""


def test_the_committed_table_reaches_what_cohort_published_at_least() -> None:
    found = gains(read_records(TABLE, QueueRow))
    assert found.batches >= 2.32
    assert found.registers >= 1.83
    assert found.callers >= 1
    assert found.callers_by_hart >= 1
    assert found.unit_to_unit >= 8


@pytest.mark.parametrize("batch", [1, 64])
def test_a_row_is_measured_again_to_the_cycle(batch: int, tmp_path: Path) -> None:
    file = tmp_path / "tiles.yaml"
    file.write_text(TILES)
    server = tile_server(read_layout(file))
    row = measure_row("batch", "queue", server, compile_program([PROGRAM]), 64, batch)
    table = read_records(TABLE, QueueRow)
    assert [row.cycles_per_element] == [
        known.cycles_per_element for known in table if known.test == "batch" and known.batch == batch
    ]


@pytest.mark.long("each row is measured three times; no other test changes windows")
@pytest.mark.parametrize("window", [20, 7])
def test_halved_windows_change_no_row_by_more_than_two_percent(window: int) -> None:
    """Windows of harts are 40 cycles, of units 14: they hide how far one is ahead of another."""
    halved = ServerParameters({"window-cycles": window})
    for batch, size in ((1, 64), (64, 64), (1, 4096)):
        rows = [
            measure_row("size", "queue", _server(timing), compile_program([PROGRAM]), size, batch)
            for timing in (ServerParameters(), halved)
        ]
        whole, half = (row.cycles_per_element for row in rows)
        assert half == pytest.approx(whole, rel=0.02), (batch, size)
    callers = [measure_callers("queue", 64, timing).cycles_per_element for timing in (None, halved)]
    assert callers[1] == pytest.approx(callers[0], rel=0.02)


def _server(timing: ServerParameters) -> Server:
    return Server("rocket", [UnitConfig("stream-copy", command="queue")], timing=timing)


def _known(test: str, size: int) -> float:
    rows = [row for row in read_records(TABLE, QueueRow) if (row.test, row.payload_bytes) == (test, size)]
    return next(row.cycles_per_element for row in rows if row.by == "queue")


def test_eight_callers_are_measured_again_to_the_cycle() -> None:
    assert measure_callers("queue", 64).cycles_per_element == _known("callers", 64)


@pytest.mark.long("a tile is compiled for it")
@pytest.mark.parametrize("size", PACKETS)
def test_elements_from_unit_to_unit_are_measured_again_to_the_cycle(size: int) -> None:
    assert measure_packets(size).cycles_per_element == _known("packets", size)


def test_another_first_unit_is_refused_in_a_line(tmp_path: Path) -> None:
    file = tmp_path / "tiles.yaml"
    file.write_text(ONE_UNIT % "snappy-compress")
    ended = rw("bench", "queues", "--tiles", file)
    assert ended.status == 1
    assert ended.stderr.splitlines()[-1] == (
        "rw: the first tile with a unit has to have stream-copy, whose queues are measured"
    )


def test_shared_queues_are_twice_as_fast_as_those_of_other_libraries() -> None:
    rows = read_records(peers.TABLE, peers.PeerRow)
    assert {row.peer for row in rows} == {peers.OURS, *peers.PACKAGES}
    assert all(gain >= 2 for gain in peers.gains(rows).values())


def test_three_producers_and_three_consumers_are_measured_again_to_the_cycle() -> None:
    row = peers.measure_row(peers.OURS, "", peers.our_program(), 1)
    table = read_records(peers.TABLE, peers.PeerRow)
    assert [row.cycles_per_element] == [
        known.cycles_per_element for known in table if known.peer == peers.OURS and known.batch == 1
    ]


@pytest.mark.long("a minute: packages are fetched, and five programs compiled")
def test_other_libraries_are_measured_again_to_the_cycle() -> None:
    record = rw("bench", "queues", "--peers", "--json").json()
    table = read_records(peers.TABLE, peers.PeerRow)
    measured = {(row["peer"], row["batch"]): row["cycles_per_element"] for row in record["rows"]}
    assert measured == {(row.peer, row.batch): row.cycles_per_element for row in table}


def test_peers_are_on_no_tiles() -> None:
    ended = rw("bench", "queues", "--peers", "--tiles", "tiles.yaml")
    assert ended.status == 1
    assert ended.stderr.splitlines()[-1] == "rw: --peers needs no tiles, and has no chart"


@pytest.mark.long("a minute: four designs are compiled")
def test_tiles_are_simulated_faster_than_the_bars() -> None:
    rows = rw("bench", "queues", "--rates", "--json").json()["rows"]
    assert [(row["busy"], row["hart"]) for row in rows] == [
        (6, "works"),
        (1, "works"),
        (0, "works"),
        (0, "sleeps"),
    ]
    assert all((row["requests"] > 0) == (row["busy"] > 0) for row in rows)
    assert all(row["cycles_per_second"] >= row["bar"] for row in rows)
