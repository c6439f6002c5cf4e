"""The committed ratios of speeds: a long run measures them anew, and none has become worse unnoticed."""

from __future__ import annotations

import json

import pytest
import typer
from command_line import rw

from rackwright.benchmarks import ratios
from rackwright.benchmarks.cluster_loads import SCENARIOS
from rackwright.benchmarks.ratios import FIGURES, TABLE, Bound, Held, bounds, measure
from rackwright.cli.bench.ratios import ratios as command
from rackwright.reports.records import read_records


def test_every_figure_has_bounds_below_what_was_measured() -> None:
    rows = read_records(TABLE, Bound)
    assert {row.figure for row in rows} == set(FIGURES)
    assert len({(row.figure, row.case) for row in rows}) == len(rows)
    for row in rows:
        assert 0.7 * row.measured < row.least < row.measured, row
    assert {"memcached-64", "traffic-1024", "busy-64"} == set(bounds("threads")) <= set(SCENARIOS)


def test_a_ratio_below_its_bound_ends_with_status_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured = {case: bound.least for case, bound in bounds("verilator").items()}
    monkeypatch.setitem(ratios.FIGURES, "verilator", lambda _: measured | {"compress": 0.1})
    held = {row.case: row for row in measure("verilator")}
    assert held["decompress"].within
    assert held["compress"] == Held("verilator", "compress", 0.1, bounds("verilator")["compress"].least)
    assert not held["compress"].within
    with pytest.raises(typer.Exit) as ended:
        command(["verilator"], json=True)
    assert ended.value.exit_code == 1
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["within"] for row in rows] == [False, True]


def test_an_unknown_figure_is_refused_by_name() -> None:
    ended = rw("bench", "ratios", "speed")
    assert ended.status == 1
    assert ended.stderr == "rw: no figure speed; there are threads, qemu, verilator, guests\n"


@pytest.mark.long
@pytest.mark.parametrize("figure", FIGURES)
def test_the_ratios_hold(figure: str) -> None:
    missed = [row for row in measure(figure) if not row.within]
    assert not missed
