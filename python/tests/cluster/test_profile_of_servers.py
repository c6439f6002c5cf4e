"""Profiles of the servers of a cluster, through the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from command_line import rw

from rackwright import read_trace
from rackwright.linux.boot import boot
from rackwright.linux.image import default_image, load_image

SCRIPT = """
from rackwright import BareMetal, Cluster, Ethernet, Server, Switch

tor = Switch("tor")
answers = Server(CPU, name="answers", workload=BareMetal("ping.elf"))
asks = Server(CPU, name="asks", workload=BareMetal("ping.elf", [answers, "5"]))
tor.add_downlinks([asks, answers])
result = Cluster(tor, link=Ethernet(latency_us=1)).run(until_ms=1, ends_with=asks)
print(result.digest)
"""


LINUX = """
from rackwright import Cluster, Ethernet, Linux, Server, Switch

tor = Switch("tor")
answers = Server("rocket", name="answers", workload=Linux(IMAGE, checkpoint=CHECKPOINT))
ping = ["sleep 0.05; ping -c 3 -i 0.01 ", answers]
asks = Server("rocket", name="asks", workload=Linux(IMAGE, run=ping, checkpoint=CHECKPOINT))
tor.add_downlinks([asks, answers])
result = Cluster(tor, link=Ethernet(latency_us=1)).run(until_ms=500, ends_with=asks)
print(result.digest)
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """Two servers, of which one asks the other five times."""
    path = tmp_path / "pair.py"
    path.write_text(SCRIPT.replace("CPU", "'rocket'"))
    return path


def test_servers_of_a_cluster_are_observed_and_do_not_notice(script: Path, tmp_path: Path) -> None:
    alone = rw("run", script)
    assert alone.status == 0, alone.stderr
    made = tmp_path / "made"
    ended = rw("profile", "-o", made, "--every", "1000", "--", "run", script)
    assert ended.status == 0, ended.stderr
    assert ended.stdout.splitlines()[0] == alone.stdout.splitlines()[0]
    assert {folder.name for folder in made.iterdir()} == {"asks", "answers"}
    for folder in made.iterdir():
        record = json.loads((folder / "profile.json").read_text())
        assert record["digest"] == alone.stdout.split()[0]
        stacks = (folder / "stacks.folded").read_text().splitlines()
        assert sum(int(line.rsplit(" ", 1)[1]) for line in stacks) == record["cycles"][0] > 0
        counters = pd.read_parquet(folder / "counters.parquet")
        events = [name for name in counters.columns if name.startswith("nic.")]
        assert events
        assert counters[events].iloc[-1].sum() > 0
        # Most of the time, each waits for the other.
        assert counters["stall.waiting"].iloc[-1] > record["cycles"][0] / 2


def test_only_the_servers_that_are_asked_for_are_observed(script: Path, tmp_path: Path) -> None:
    ended = rw(
        *("profile", "-o", tmp_path / "made", "--json", "--servers", "asks", "--from", "function:main"),
        *("--trace", tmp_path / "trace", "--", "run", script),
    )
    assert ended.status == 0, ended.stderr
    record = ended.json()
    assert list(record) == ["asks"]
    traced = pd.concat(read_trace(tmp_path / "trace.asks").instructions())
    assert len(traced) == record["asks"]["instructions"] > 0
    assert record["asks"]["triggers_fired"] == {"from": 1, "to": 0}
    ended = rw("profile", "--servers", "aks", "--", "run", script)
    assert ended.status == 1
    assert "no server is called aks; there are asks, answers" in ended.stderr


@pytest.mark.long
def test_linux_servers_of_a_cluster_are_observed_and_do_not_notice(tmp_path: Path) -> None:
    script, checkpoint, made = tmp_path / "linux.py", tmp_path / "booted", tmp_path / "made"
    boot(load_image(default_image()), harts=2, memory_bytes=256 << 20, checkpoint=checkpoint)
    text = LINUX.replace("CHECKPOINT", repr(str(checkpoint)))
    script.write_text(text.replace("IMAGE", "None"))
    ended = rw("profile", "--servers", "asks", "--", "run", script)
    assert ended.status == 1
    assert "it needs the image that was booted" in ended.stderr
    script.write_text(text.replace("IMAGE", "'default'"))
    alone = rw("run", script)
    assert alone.status == 0, alone.stderr
    ended = rw("profile", "-o", made, "--", "run", script)
    assert ended.status == 0, ended.stderr
    assert ended.stdout.splitlines()[0] == alone.stdout.splitlines()[0]
    for name, program in (("asks", "ping"), ("answers", "sleep")):
        record = json.loads((made / name / "profile.json").read_text())
        assert record["digest"] == alone.stdout.split()[0]
        stacks = [line.rsplit(" ", 1) for line in (made / name / "stacks.folded").read_text().splitlines()]
        assert sum(int(cycles) for _, cycles in stacks) == sum(record["cycles"]) > 0
        assert any(program in stack for stack, _ in stacks)
        assert any("icmp_echo" in stack for stack, _ in stacks) == (name == "answers")
        counters = pd.read_parquet(made / name / "counters.parquet")
        assert counters["nic.sent_frames"].max() >= 3
