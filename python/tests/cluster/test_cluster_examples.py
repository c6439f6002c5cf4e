"""The examples run."""

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
    assert printed.startswith("root\n  tor0  2 us\n    client0  2 us\n")
    assert "16 servers, 3 switches" in printed


def test_ping(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "ping.py"), run_name="__main__")
    last = capsys.readouterr().out.splitlines()[-1]
    # Eight links of 2 us, and less than 2 us in NICs, switches and programs.
    assert 16 < float(last.split()[-2]) < 18


def test_memcached(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["memcached.py", "rack", "1"])
    runpy.run_path(str(EXAMPLES / "memcached.py"), run_name="__main__")
    assert "64 servers, 37 switches" in capsys.readouterr().out


def test_idle_servers_execute_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    namespace = runpy.run_path(str(EXAMPLES / "idle.py"))
    booted = namespace["idle"](32).run(until_ms=1)
    later = namespace["idle"](32).run(until_ms=100)
    assert booted.servers["instructions"].sum() == later.servers["instructions"].sum() > 0
    monkeypatch.setattr(sys, "argv", ["idle.py"])
    runpy.run_path(str(EXAMPLES / "idle.py"), run_name="__main__")
    assert "instructions, all of them to boot" in capsys.readouterr().out


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
