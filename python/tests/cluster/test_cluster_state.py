"""Checkpoints that hold the state of a cluster: a run goes on from them as if it had not been interrupted."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cluster_shapes import rack

from rackwright import Cluster, Ethernet, Linux, RackwrightError, Server, Switch
from rackwright.linux.boot import boot
from rackwright.linux.image import default_image, load_image


def position(checkpoint: Path) -> dict[str, object]:
    """The first line of a checkpoint."""
    with checkpoint.open("rb") as file:
        record: dict[str, object] = json.loads(file.readline())
    return record


def test_nodes_without_a_saved_state_are_named(tmp_path: Path) -> None:
    file = tmp_path / "position"
    rack().run(until_ms=0.1, checkpoint=file)
    assert position(file)["unsaved"] == "`server0`: a server at `traffic` fidelity cannot be saved"


STAY = "while sleep 3600; do :; done"


def ring(booted: Path, count: int, cpu: str = "functional") -> Cluster:
    """Linux servers of which each sends the next one requests, over and over."""

    def server(index: int) -> Server:
        asked = f"172.16.1.{1 + (index + 1) % count}"
        command = f"sleep 0.02; ping -c 20 -i 0.001 -s 1400 {asked}; cat /proc/interrupts; {STAY}"
        return Server(
            cpu,
            workload=Linux(run=command, checkpoint=booted),
            name=f"linux{index}",
            ip=f"172.16.1.{1 + index}",
        )

    switch = Switch("tor0")
    switch.add_downlinks([server(index) for index in range(count)])
    return Cluster(switch, link=Ethernet(gbps=10, latency_us=20))


@pytest.fixture(scope="module")
def booted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Linux machine with two harts."""
    path = tmp_path_factory.mktemp("checkpoint") / "booted"
    boot(load_image(default_image()), harts=2, memory_bytes=256 << 20, checkpoint=path)
    return path


def seconds(act: Callable[[], object]) -> float:
    """How long it takes a processor: other work on the machine does not count."""
    begun = time.process_time()
    act()
    return time.process_time() - begun


@pytest.mark.long
def test_linux_servers_go_on_from_their_state(booted: Path, tmp_path: Path) -> None:
    file = tmp_path / "state"
    whole = ring(booted, 4).run(until_ms=90)
    assert whole.servers["stdout"].str.contains("20 packets received").all()
    times = random.Random(2)
    for _ in range(8):
        before = ring(booted, 4).run(until_ms=times.uniform(5, 80), checkpoint=file)
        assert position(file)["unsaved"] == ""
        assert position(file)["digest"] == before.digest
        after = ring(booted, 4).run(until_ms=90, restart=file)
        assert after.digest == whole.digest
        assert list(after.servers["stdout"]) == list(whole.servers["stdout"])


@pytest.mark.long
def test_a_file_that_is_damaged_or_of_harts_with_caches(booted: Path, tmp_path: Path) -> None:
    file = tmp_path / "state"
    ring(booted, 2).run(until_ms=1, checkpoint=file)
    damaged = bytearray(file.read_bytes())
    damaged[-100] ^= 1
    file.write_bytes(damaged)
    with pytest.raises(RackwrightError, match="the state of the cluster is damaged"):
        ring(booted, 2).run(until_ms=2, restart=file)
    ring(booted, 2, "rocket").run(until_ms=1, checkpoint=file)
    assert "harts with L1 caches" in str(position(file)["unsaved"])


@pytest.mark.long
def test_sixty_four_linux_servers_are_restored_in_five_seconds(booted: Path, tmp_path: Path) -> None:
    file = tmp_path / "state"
    before = ring(booted, 64).run(until_ms=40, checkpoint=file)
    cycles = int(str(position(file)["cycle"]))
    until = cycles / before.cycles * 40
    assert seconds(lambda: ring(booted, 64).run(until_ms=until, restart=file)) < 5
