"""`rw run CLUSTER.py`, as a user runs it."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import pandas as pd
import pytest
from command_line import REPOSITORY, rw

TWO_RACKS = REPOSITORY / "examples" / "clusters" / "two_racks.py"


def test_json_holds_the_run_and_nothing_else(tmp_path: Path) -> None:
    ended = rw("run", TWO_RACKS, "--json", "--threads", 1, "-o", tmp_path, "--pcap", "tor0.port3")
    assert ended.status == 0, ended.stderr
    record = ended.json()
    expected = "digest cycles clock_hz wall_seconds cycles_per_second servers ports latency threads ranks"
    assert set(expected.split()) <= set(record)
    assert (record["cycles"], record["clock_hz"]) == (64_000_000, 3_200_000_000)
    assert (record["threads"], record["ranks"]) == (1, 1)
    assert all(port["offered"] == port["sent"] + port["dropped"] + port["queued"] for port in record["ports"])
    assert "16 servers, 3 switches" in ended.stderr, "what the script prints"
    assert json.loads((tmp_path / "run.json").read_text(encoding="utf-8")) == record
    assert len(pd.read_csv(tmp_path / "servers.csv")) == 16
    assert (tmp_path / "capture.pcapng").stat().st_size > 1000


def test_settings_change_the_run_and_threads_do_not() -> None:
    plain, threads, near = (
        rw("run", TWO_RACKS, "--json", *options).json()
        for options in ([], ["--threads", 2], ["--set", "link.latency_us=1", "--set", "until_ms=20"])
    )
    assert plain["digest"] == threads["digest"] != near["digest"]
    # Two links between the switches each way are 1 us shorter, and two between a client and its switch.
    assert near["latency"]["p50_us"] < plain["latency"]["p50_us"]


def test_several_runs_are_listed(tmp_path: Path) -> None:
    fat_tree = REPOSITORY / "examples" / "clusters" / "fat_tree.py"
    record = rw("run", fat_tree, "--json", "--set", "until_ms=1", "--", tmp_path).json()
    assert [run["cycles"] for run in record["runs"]] == [3_200_000, 3_200_000]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([TWO_RACKS, "--cpu", "boom"], "--cpu does not apply: two_racks.py is a script"),
        ([TWO_RACKS, "--pcap", "tor0.port99"], "`tor0.port99` is not a port"),
        ([TWO_RACKS, "--set", "link.latncy=1"], "`link` has gbps, latency_us"),
        (["no.py"], "no.py: no such file"),
    ],
)
def test_mistakes_are_one_line(arguments: list[object], message: str) -> None:
    ended = rw("run", *arguments)
    assert ended.status == 1
    assert message in ended.stderr


def test_what_was_measured_before_an_interrupt_is_kept(tmp_path: Path) -> None:
    script = tmp_path / "endless.py"
    text = TWO_RACKS.read_text(encoding="utf-8")
    script.write_text(text, encoding="utf-8")
    mark = tmp_path / "checkpoint"
    command = [REPOSITORY / "rw", "run", script, "--set", "until_ms=1000000", "-o", tmp_path / "out"]
    command += ["--checkpoint", mark, "--checkpoint-us=1000"]
    process = subprocess.Popen(
        list(map(str, command)), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    while not mark.exists():
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert "interrupted at" in told
    assert f"what was measured is in {tmp_path / 'out'}" in told
    record = json.loads((tmp_path / "out" / "run.json").read_text(encoding="utf-8"))
    assert record["error"].startswith("interrupted at")
    assert record["cycles"] > 0


def test_a_script_must_run_a_cluster(tmp_path: Path) -> None:
    script = tmp_path / "empty.py"
    script.write_text("print('nothing')\n", encoding="utf-8")
    assert "ended without running a cluster" in rw("run", script).stderr
    script.write_text("def broken(:\n", encoding="utf-8")
    assert "line 1: " in rw("run", script).stderr
    script.write_text("raise SystemExit(5)\n", encoding="utf-8")
    assert rw("run", script).status == 1
