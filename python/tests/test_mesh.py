"""The mesh in RTL: packets, and its model arrival by arrival; the curves of caminos and BookSim."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from command_line import REPOSITORY, rw
from tiers import long

from rackwright._engine import EngineError, UnitBench
from rackwright.benchmarks.mesh import (
    CAMINOS_TABLE,
    COMPARED,
    PEER_TABLE,
    RATES,
    SMALL,
    PeerRow,
    measure,
    run,
    traffic_only,
)
from rackwright.hardware.designs import design
from rackwright.reports.records import read_records
from rackwright.tiles import Mesh

if TYPE_CHECKING:
    from rackwright._engine import MeshMeasured

LOADS = [(0.02, 1), (0.3, 1), (0.9, 1), (0.05, 4), (0.3, 7)]
"""Packets that a tile begins in a cycle, and their flits: some far more than a mesh can take."""


@pytest.mark.parametrize(
    "mesh",
    [
        pytest.param(SMALL, id="3x2"),
        long(traffic_only(Mesh(4, 4)), why="compiled for nothing else", name="4x4"),
    ],
)
def test_rtl_and_model_agree_on_every_arrival(mesh: Mesh) -> None:
    rtl = design("mesh", mesh.parameters(), assertions=True)
    for rate, flits in LOADS:
        found = run(mesh, rate, design=rtl, flits=flits)
        assert found == run(mesh, rate, flits=flits)
        assert found["packets"] > 100


@pytest.mark.long("minutes to compile")
def test_the_large_mesh_agrees_too() -> None:
    rows = list(measure(COMPARED, RATES))
    assert all(row.verified for row in rows)


@cache
def point(rate: float) -> MeshMeasured:
    return run(COMPARED, rate)


def test_the_curve_is_that_of_caminos() -> None:
    """Within 3 % up to where it bends."""
    rows = list(read_records(CAMINOS_TABLE, PeerRow))
    assert [row.rate for row in rows] == list(RATES)
    for peer in rows:
        found = point(peer.rate)
        if peer.rate <= 0.42:
            assert found["mean_latency"] == pytest.approx(peer.mean_latency, rel=0.03)
        assert found["accepted"] > 0.97 * peer.accepted


def test_the_curve_is_that_of_booksim_or_better() -> None:
    """Within 5 % up to 0.3; beyond, BookSim takes longer: its inputs send one flit per cycle."""
    for peer in read_records(PEER_TABLE, PeerRow):
        found = point(peer.rate)
        if peer.rate <= 0.3:
            assert found["mean_latency"] == pytest.approx(peer.mean_latency, rel=0.05)
        if peer.rate <= 0.42:
            assert found["mean_latency"] < 1.05 * peer.mean_latency
        assert found["accepted"] > 0.98 * peer.accepted
    assert run(COMPARED, 0.46)["accepted"] == pytest.approx(0.42, rel=0.05)
    assert run(COMPARED, 0.46)["accepted"] >= 0.42


@pytest.mark.long("caminos is compiled, and runs for half a minute")
def test_caminos_has_the_same_numbers_again(tmp_path: Path) -> None:
    table = tmp_path / "caminos.csv"
    subprocess.run(
        ["cargo", "run", "--release", "--locked", "--quiet", "--", table, *map(str, RATES)],
        cwd=CAMINOS_TABLE.with_name("caminos"),
        check=True,
        stdout=subprocess.DEVNULL,
    )
    assert table.read_text(encoding="utf-8") == CAMINOS_TABLE.read_text(encoding="utf-8")


def test_a_hop_takes_two_cycles() -> None:
    """From a mean over pairs of tiles: 4 cycles to and from the routers, and 5.25 links on average."""
    mesh = replace(COMPARED, stages=0)
    assert mesh.hop_cycles == 2
    assert run(mesh, 0.005)["mean_latency"] == pytest.approx(4 + 2 * 5.25, rel=0.02)


@pytest.mark.long("minutes: ten million cycles of RTL in ten parts")
@pytest.mark.parametrize("part", range(10))
def test_no_packet_is_stuck_in_a_million_random_cycles(part: int) -> None:
    """With assertions; every packet arrives, the last ones within 3000 cycles of the end."""
    rate, flits = [(0.02, 1), (0.25, 1), (0.45, 1), (0.06, 4), (0.04, 7)][part % 5]
    rtl = design("mesh", SMALL.parameters(), assertions=True)
    found = run(SMALL, rate, design=rtl, flits=flits, seed=100 + part, warm_up=0, measured=1_000_000)
    assert found["packets"] > 100_000
    assert found["arrived"] == found["packets"]


def test_the_interface_signs_packets_and_refuses_those_to_nowhere() -> None:
    bench = UnitBench(design("mesh", SMALL.parameters(), assertions=True))
    packet = bytes([2, 1, 9, 9]) + b"mine" + b"eight..." * 2
    sent = []
    for frame in (packet, bytes([3, 0, 0, 0]) + b"lost" + b"eight...", bytes([0, 0, 0, 0]) + b"self"):
        bench.deliver(frame, at=bench.cycle)
        assert bench.run_until_idle(1000)
        sent.append([left for _, _, left in bench.sent_frames()])
    assert sent == [[bytes([2, 1, 0, 0]) + packet[4:]], [], [bytes([0, 0, 0, 0]) + b"self"]]
    events = bench.events()
    assert events["refused"] == 1
    assert events["flits_in"] == 3 + 2 + 1
    assert events["flits_out"] == 3 + 1


def test_bench_mesh_is_one_json_document() -> None:
    record = rw("bench", "mesh", "--model", "--rate", "0.05", "--json").json()
    assert record["hop_cycles"] == 4
    [row] = record["rows"]
    assert row["by"] == "model"
    assert row["peer_latency"] == 27.03
    assert row["verified"] is None
    layout = REPOSITORY / "examples" / "tiles" / "three-by-three.yaml"
    again = rw("bench", "mesh", "--model", "--rate", "0.05", "--tiles", layout, "--json").json()
    assert again["hop_cycles"] == 2
    assert again["rows"][0]["peer"] is None


def test_a_mesh_with_other_flits_is_refused_in_a_line() -> None:
    wide = design("mesh", {**SMALL.parameters(), "flit-bytes": 16})
    with pytest.raises(EngineError, match="the unit `mesh` is no mesh with one network and flits of 8 bytes"):
        run(SMALL, 0.1, design=wide)
