"""Clusters shared by several processes: the result is the same, and a loss is told."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster_mpi import Hosts, mpirun, needs_mpi, script

pytestmark = needs_mpi

_DIES = """
if ranks and ranks.rank == 1:
    import os, signal
    real, rounds = ranks.exchange, iter(range(400))

    def dying(messages):
        if next(rounds) == 300:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(messages)

    ranks.exchange = dying
"""

_FAILS = """
if ranks and ranks.rank == 1:
    real, rounds = ranks.exchange, iter(range(300))
    ranks.exchange = lambda messages: [next(rounds), real(messages)][1]
"""

# mpirun calls it with a host's name and a command for that host's shell. A host answers to its name, by
# which Open MPI's daemons name their files: those of two hosts with one name destroy each other's.
_AGENT = """#!/bin/sh
host=$1
shift
exec ip netns exec "$host" unshare --uts sh -c "hostname $host && $*"
"""


def record(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    return found


def test_results_are_the_same_on_any_number_of_ranks(tmp_path: Path) -> None:
    path = script(tmp_path)
    records = []
    for ranks in (1, 2, 3):
        ended = mpirun(ranks, [path, "--json"])
        assert ended.status == 0, ended.stderr
        found = json.loads(ended.stdout)
        assert (found.pop("ranks"), found["error"]) == (ranks, None)
        for changing in ("wall_seconds", "cycles_per_second", "threads"):
            del found[changing]
        records.append(found)
    assert records[0] == records[1] == records[2]


def test_a_lost_rank_is_named_and_the_rest_is_kept(tmp_path: Path) -> None:
    ended = mpirun(3, [script(tmp_path, _DIES), "-o", tmp_path])
    assert ended.status != 0
    assert "rw: rank 1 (process " in ended.stderr
    assert "what ranks 0, 2 have measured is kept" in ended.stderr
    found = record(tmp_path)
    assert "what ranks 0, 2 have measured is kept" in str(found["error"])
    servers = found["servers"]
    assert isinstance(servers, list)
    assert 0 < len(servers) < 15
    assert any(server["packets_sent"] > 0 for server in servers)


def test_a_rank_that_fails_is_lost_to_the_others(tmp_path: Path) -> None:
    """It does not leave them waiting: the test would time out."""
    ended = mpirun(2, [script(tmp_path, _FAILS), "-o", tmp_path])
    assert ended.status != 0
    assert "StopIteration" in ended.stderr
    assert "rw: rank 1 (process " in ended.stderr
    assert str(record(tmp_path)["error"]).startswith("rank 1 (process ")


def test_two_hosts_share_a_cluster_and_one_is_lost(tmp_path: Path, two_hosts: Hosts) -> None:
    alone = mpirun(1, [script(tmp_path), "--json"])
    together = mpirun(2, [script(tmp_path), "--json"], two_hosts)
    assert together.status == 0, together.stderr
    assert json.loads(alone.stdout)["digest"] == json.loads(together.stdout)["digest"]
    lost = mpirun(2, [script(tmp_path, _DIES), "-o", tmp_path], two_hosts)
    assert lost.status != 0
    # mpirun may cut the connection to a host before all that its ranks print has come.
    assert str(record(tmp_path)["error"]).startswith("rank 1 (process ")


def test_a_rank_needs_a_node(tmp_path: Path) -> None:
    path = tmp_path / "small.py"
    text = "from rackwright import Cluster, Traffic\na, b = Traffic(), Traffic()\na.connect(b)\n"
    text += "Cluster(a).run(1)\n"
    path.write_text(text, encoding="utf-8")
    ended = mpirun(3, [path])
    assert ended.status != 0
    assert "3 ranks cannot share 2 nodes" in ended.stderr


def test_captures_are_of_one_process(tmp_path: Path) -> None:
    ended = mpirun(2, [script(tmp_path), "--pcap", "tor0.port0", "-o", tmp_path])
    assert ended.status != 0
    assert "one process captures and samples: run without mpirun" in ended.stderr


@pytest.fixture
def two_hosts(tmp_path: Path) -> Iterator[Hosts]:
    """Two network namespaces with names of their own, used as two machines, with a cable between them."""
    names = ("rackwright-a", "rackwright-b")

    def ip(*words: str) -> None:
        subprocess.run(["ip", *words], check=True, capture_output=True, text=True)

    try:
        for name in names:
            ip("netns", "add", name)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"network namespaces are not permitted here: {getattr(error, 'stderr', error)}")
    try:
        ip(
            "link",
            "add",
            "rw-a",
            "netns",
            names[0],
            "type",
            "veth",
            "peer",
            "name",
            "rw-b",
            "netns",
            names[1],
        )
        for index, (name, device) in enumerate(zip(names, ("rw-a", "rw-b"), strict=True), start=1):
            ip("-n", name, "address", "add", f"10.231.77.{index}/24", "dev", device)
            ip("-n", name, "link", "set", device, "up")
            ip("-n", name, "link", "set", "lo", "up")
        agent = tmp_path / "agent"
        agent.write_text(_AGENT, encoding="utf-8")
        agent.chmod(0o755)
        options = ["--mca", "plm_rsh_agent", str(agent), "--host", f"{names[0]}:1,{names[1]}:1"]
        yield Hosts(["ip", "netns", "exec", names[0]], options)
    finally:
        for name in names:
            ip("netns", "delete", name)
