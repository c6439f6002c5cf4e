"""The examples and the comparisons run."""

from __future__ import annotations

import itertools
import runpy
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[3]
EXAMPLES = REPOSITORY / "examples" / "clusters"


def test_two_racks(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "two_racks.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert printed.startswith("root\n  tor0\n    client0\n")
    assert "16 servers, 3 switches" in printed


def test_fat_tree(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["fat_tree.py", str(tmp_path)])
    runpy.run_path(str(EXAMPLES / "fat_tree.py"), run_name="__main__")
    assert capsys.readouterr().out.count("dropped") == 2
    assert {path.name for path in tmp_path.iterdir()} == {"fat_tree.svg", "core0.pcapng"}


def test_a_thousand_nodes_answer_as_calibrated() -> None:
    example = runpy.run_path(str(EXAMPLES / "thousand_nodes.py"))
    result = example["thousand_nodes"]("rack").run(until_ms=3)
    assert len(result.servers) == 1024
    assert result.latency["p50_us"] == pytest.approx(79.26, rel=0.02)


def test_each_level_adds_four_links_and_two_switches() -> None:
    thousand_nodes = runpy.run_path(str(EXAMPLES / "thousand_nodes.py"))["thousand_nodes"]
    means = [
        thousand_nodes(where).run(until_ms=5).latency["mean_us"] for where in ("rack", "aggregation", "root")
    ]
    steps = [after - before for before, after in itertools.pairwise(means)]
    # 4 x 2 us of links, and switching and flits of two frames through two more switches each.
    assert steps == pytest.approx([8.05, 8.05], abs=0.5)


def test_waiting_times_are_those_of_queueing_theory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(REPOSITORY / "validation" / "queueing"))
    run = runpy.run_path(str(REPOSITORY / "validation" / "queueing" / "run.py"))
    table = run["compare"](5_000_000)
    assert (table.filter(like="off").abs() < run["LIMIT_PERCENT"]).all(axis=None), table.to_string()


def test_known_differences_from_the_thousand_node_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """See validation/firesim/DEVIATIONS.md: whoever closes one finds out here."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    table = runpy.run_path(str(REPOSITORY / "validation" / "firesim" / "run.py"))["compare"](10, None)
    off = {
        what: (table[what] / table[f"{what}_paper"] - 1).tolist()
        for what in ("p50_us", "p95_us", "requests_per_second")
    }
    assert off["p50_us"] == pytest.approx([0, 0, 0.015], abs=0.01)
    assert off["p95_us"] == pytest.approx([0, 0.22, 0.205], abs=0.02)
    assert off["requests_per_second"] == pytest.approx([0, -0.03, 0], abs=0.01)
    assert table["dropped"].sum() == 0


def test_streams_fill_the_link_at_the_root() -> None:
    """The goal of firesim-2.6, half a percent, at every step of every rate."""
    table = runpy.run_path(str(REPOSITORY / "validation" / "firesim" / "bandwidth.py"))["compare"]()
    assert len(table) == 32
    assert table["off_percent"].abs().max() < 0.5, table.to_string()


def test_round_trips_are_explained_to_the_cycle() -> None:
    table = runpy.run_path(str(REPOSITORY / "validation" / "firesim" / "ping.py"))["compare"]()
    assert (table["unexplained_cycles"] == 0).all(), table.to_string()
