"""Experiments of papers: what a row says, and that each one keeps its limits."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from command_line import rw

from rackwright.errors import RackwrightError
from rackwright.reports.plots import line_chart
from rackwright.reproduce import EXPERIMENTS, Experiment, Outcome, Reproduction, Row, Settings, reproduce
from rackwright.reproduce import kept as kept_module
from rackwright.reproduce import reference as reference_module
from rackwright.reproduce import runner as runner_module
from rackwright.reproduce.reference import compare
from rackwright.reproduce.report import render
from rackwright.reproduce.seeds import median_interval, over_seeds
from rackwright.reproduce.table import cells

NETWORK = (
    "firesim-2.5",
    pytest.param("firesim-2.5-linux", marks=pytest.mark.long),
    "firesim-bw",
    "firesim-2.6",
    pytest.param("firesim-2.7", marks=pytest.mark.long),
    "firesim-2.8",
    "firesim-2.9",
    "firesim-t2.3",
    pytest.param("firesim-2.11", marks=pytest.mark.long("11 s; test_remote_sweep.py pages in both ways")),
    pytest.param("queueing", marks=pytest.mark.long("13 s; the crate traffic is compared with theory, too")),
    "daronpon-2.4",
    "daronpon-2.5",
    "daronpon-2.6",
    "daronpon-2.7",
    "daronpon-2.8",
    "fabric-pcie",
    "pengwing-4.1",
    "pengwing-4.4",
    pytest.param("pengwing-4.5", marks=pytest.mark.long("the store on a tile is compiled for it")),
    "pengwing-4.6",
    pytest.param("pengwing-4.7", marks=pytest.mark.long("the runs of 4.6")),
    pytest.param("fabric-placement", marks=pytest.mark.long("ten designs are compiled for it")),
    "drx-3.21",
    "drx-3.8",
    pytest.param("aurelia-4.2", marks=pytest.mark.long("a design with 256 tags is compiled for it")),
)

SPEED = "MHz"
"""Unit of simulated cycles per second of wall time."""


def test_a_row_is_within_its_limits_or_not() -> None:
    assert Row("q", 100, 101, "us", within_percent=1).within is True
    assert Row("q", 100, 101.1, "us", within_percent=1).within is False
    assert Row("q", 0, 1e-9, "us", within_percent=0).within is False
    assert Row("q", None, 20, "MHz", at_least=20).within is True
    assert Row("q", 100, 100, "MHz", within_percent=1, at_least=101).within is False
    assert Row("q", 100, 200, "us").within is None


def test_only_a_reason_excuses_a_row_outside() -> None:
    outside = Row("q", 100, 150, "us", within_percent=1)
    assert outside.failed
    assert outside.difference_percent == pytest.approx(50)
    assert cells(outside)[-1] == "NO"
    known = Row("q", 100, 150, "us", within_percent=1, known="a reason")
    assert not known.failed
    assert cells(known)[-1] == "no: a reason"
    beyond = Row("q", 100, 150, "us", within_percent=1, known="a reason", band=(110, 140))
    assert beyond.failed
    assert cells(beyond)[-1] == "NO"


def test_a_limit_judges_the_interval_of_a_median() -> None:
    inside = Row("q", None, 4.5, "ratio", at_least=4, interval=(4.1, 4.9))
    assert (inside.within, inside.decided, cells(inside)[-1]) == (True, True, "yes")
    around = Row("q", None, 3.9, "ratio", at_least=4, interval=(3.6, 4.2))
    assert (around.within, around.decided, around.failed, cells(around)[-1]) == (True, False, False, "open")
    below = Row("q", None, 3.8, "ratio", at_least=4, interval=(3.6, 3.99))
    assert (below.within, below.failed, cells(below)[-1]) == (False, True, "NO")
    assert cells(below)[3] == "3.8 (3.6 to 3.99)"
    beyond = Row("q", 1, 1.3, "times", within_percent=20, interval=(1.21, 1.5))
    assert beyond.failed
    assert Row.of_record(json.loads(json.dumps(beyond.record()))) == beyond


def test_the_extremes_of_six_enclose_the_median_and_those_of_five_do_not() -> None:
    assert median_interval([3, 1, 2, 6, 5, 4]) == (1, 6)
    assert median_interval(range(9)) == (1, 7)  # 1 - 2 * (1 + 9) / 2**9 is 96.1 %
    assert median_interval(range(8)) == (0, 7)
    with pytest.raises(ValueError, match="5 values say nothing"):
        median_interval(range(5))


def _by_seed(settings: Settings) -> Outcome:
    row = Row("rate", None, 10.0 + settings.seed, "Gbit/s", at_least=20)
    return Outcome([row], [f"chart {settings.seed}"], [f"digest {settings.seed}"])


def _never(settings: Settings) -> Outcome:
    raise AssertionError(f"seed {settings.seed} was kept")


def test_seeds_are_run_side_by_side_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_module, "KEPT", tmp_path)
    chaotic = Experiment("x-1", "", "", "", _by_seed, guests=True)
    outcome = over_seeds(chaotic, Settings())
    (row,) = outcome.rows
    assert (row.ours, row.interval, row.failed) == (12.5, (10, 15), True)
    assert list(outcome.charts) == ["chart 0"]
    assert list(outcome.digests) == [f"digest {seed}" for seed in range(6)]
    assert over_seeds(replace(chaotic, measure=_never), Settings()) == outcome
    next(tmp_path.rglob("4.json")).unlink()
    with pytest.raises(AssertionError, match="seed 4 was kept"):
        over_seeds(replace(chaotic, measure=_never), Settings())
    assert over_seeds(chaotic, Settings()) == outcome


def test_a_run_that_was_interrupted_resumes_and_one_that_was_whole_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = []

    def of(name: str, stops: bool = False) -> Experiment:
        def measure(settings: Settings) -> Outcome:
            ran.append(name)
            if stops and ran.count(name) == 1:
                raise KeyboardInterrupt
            return Outcome([Row("rate", None, len(ran), "Gbit/s")], [], [f"digest {len(ran)}"])

        return Experiment(name, "", "", "", measure)

    monkeypatch.setattr(kept_module, "KEPT", tmp_path)
    experiments = [of("x-1"), of("x-2", stops=True), of("x-3")]
    monkeypatch.setattr(runner_module, "chosen", lambda ids: experiments)
    with pytest.raises(KeyboardInterrupt):
        reproduce()
    assert ran == ["x-1", "x-2"]
    digests = [each.outcome.digests for each in reproduce()]
    assert ran == ["x-1", "x-2", "x-2", "x-3"]
    assert digests == [["digest 1"], ["digest 3"], ["digest 4"]]
    reproduce()
    assert ran[4:] == ["x-1", "x-2", "x-3"]
    reproduce(settings=Settings(quick=True))
    assert ran[7:] == ["x-1", "x-2", "x-3"]
    assert list(tmp_path.rglob("*.json")) == []


@pytest.mark.parametrize("name", NETWORK)
def test_every_row_is_as_expected(name: str) -> None:
    """A difference that is known must still be there: whoever closes one finds out here.

    How fast this machine simulates is for people to look at: a busy one must not fail a test, but one
    that is twenty times too slow for its bar is not busy.
    """
    (reproduction,) = reproduce(name, settings=Settings(quick=True))
    rows = [row for row in reproduction.outcome.rows if row.unit != SPEED]
    speeds = [row for row in reproduction.outcome.rows if row.unit == SPEED]
    assert [row for row in speeds if row.ours <= (row.at_least or 0) / 20] == []
    assert [row for row in rows if row.failed or (row.known and row.within)] == []
    assert len(reproduction.outcome.digests) > 0


def test_a_quick_run_of_a_figure_has_some_of_its_bars_and_no_limits() -> None:
    (reproduction,) = reproduce("cdpu-7.13", settings=Settings(quick=True))
    rows = {row.quantity: row for row in reproduction.outcome.rows}
    assert rows["near-core, 64 KiB"].ours > rows["pcie, 64 KiB"].ours > 0
    assert 0.5 < rows["ratio over the library's, 2 KiB"].ours < 1.2
    assert "chiplet, 64 KiB" not in rows
    assert all(row.within is None for row in rows.values())


def test_names_are_unique_and_unknown_ones_refused() -> None:
    ids = [experiment.id for experiment in EXPERIMENTS]
    assert len(ids) == len(set(ids))
    with pytest.raises(RackwrightError, match=r"no experiment is called firesim-9\.9; there are firesim"):
        reproduce("firesim-9.9")


def test_a_table_must_have_what_was_measured_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reference_module, "VALIDATION", tmp_path)
    table = tmp_path / "table.csv"
    head = "quantity,paper,unit,within_percent,at_least,known\n"
    table.write_text(head + "speed,,MHz,,20,\n", encoding="utf-8")
    assert compare("table.csv", {"speed": 21}) == [Row("speed", None, 21.0, "MHz", at_least=20)]
    with pytest.raises(RackwrightError, match="differ in: height"):
        compare("table.csv", {"speed": 21, "height": 1})
    assert compare("table.csv", {}, partial=True) == []
    assert compare("table.csv", {"speed": 19}, partial=True) == [Row("speed", None, 19.0, "MHz")]
    with pytest.raises(RackwrightError, match="differ in: height"):
        compare("table.csv", {"height": 1}, partial=True)
    table.write_text(head + "speed,,MHz,,20,10 to 15.5: a reason\n", encoding="utf-8")
    (row,) = compare("table.csv", {"speed": 12})
    assert (row.known, row.band, row.failed) == ("a reason", (10, 15.5), False)
    table.write_text(head + "speed,fast,MHz,,20,\n", encoding="utf-8")
    with pytest.raises(RackwrightError, match=r"table\.csv, speed: paper is 'fast', not a number"):
        compare("table.csv", {"speed": 21})
    table.write_text("quantity,ours\n", encoding="utf-8")
    with pytest.raises(RackwrightError, match="its columns are not"):
        compare("table.csv", {})


def test_units_of_protobuf_reach_the_published_frequencies() -> None:
    (done,) = reproduce("proto-asic")
    assert not done.failed
    assert [row.unit for row in done.outcome.rows] == ["GHz", "mm²", "GHz", "mm²"]


def test_areas_of_the_hyperscale_soc_add_up() -> None:
    units, chip = reproduce("hyperscale-area", "hyperscale-chip")
    *each, total = units.outcome.rows
    assert len(each) == 6
    assert total.ours == pytest.approx(sum(row.ours for row in each))
    assert total.paper == pytest.approx(sum(row.paper or 0 for row in each))
    *parts, die = chip.outcome.rows
    assert parts[0].ours == pytest.approx(2 * total.ours)
    assert die.ours == pytest.approx(sum(row.ours for row in parts))
    assert die.paper == 16


def test_the_report_shows_every_row_and_escapes() -> None:
    experiment = Experiment("x-1", "A <title>", "A paper", "Runs.", lambda _: Outcome([]))
    chart = line_chart("a & b", "x", "y", {"ours": [(1, 2), (2, 4)], "<ideal>": [(1, 0), (2, 0)]})
    ElementTree.fromstring(chart)
    html = render([Reproduction(experiment, Outcome([Row("q < r", 1, 1, "us")], [chart]), 1.0)])
    assert "A &lt;title&gt;" in html
    assert "q &lt; r" in html
    assert chart in html


def test_the_command_lists_and_measures(tmp_path: Path) -> None:
    listed = rw("reproduce", "--list", "--json")
    assert [each["id"] for each in listed.json()["experiments"]] == [each.id for each in EXPERIMENTS]
    ended = rw("reproduce", "firesim-2.5", "--json", "-o", tmp_path)
    assert ended.status == 0, ended.stderr
    (experiment,) = ended.json()["experiments"]
    assert experiment["rows"][0]["within"] is True
    assert json.loads((tmp_path / "reproduce.json").read_text(encoding="utf-8")) == ended.json()
    assert "firesim-2.5" in (tmp_path / "report.html").read_text(encoding="utf-8")
    unknown = rw("reproduce", "firesim-9.9")
    assert (unknown.status, unknown.stdout) == (1, "")
    assert "no experiment is called firesim-9.9" in unknown.stderr
