"""Checkpoints that hold the state of a cluster: a run goes on from them as if it had not been interrupted."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cluster_shapes import rack
from going_on import UNIT_CALLS, goes_on, position
from tiers import long

from rackwright import (
    BareMetal,
    Cluster,
    Ethernet,
    Linux,
    RackwrightError,
    Server,
    Switch,
    UnitConfig,
    compile_bare_metal,
)
from rackwright.hardware.headers import server_header
from rackwright.linux.boot import boot
from rackwright.linux.image import default_image, load_image
from rackwright.unit.accelerators import unit_manifest


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


@pytest.mark.parametrize(
    "points",
    [long(8, why="it boots Linux"), long(200, why="200 runs of four Linux servers", name="at any time")],
)
def test_linux_servers_go_on_from_their_state(booted: Path, points: int, tmp_path: Path) -> None:
    file = tmp_path / "state"
    whole = ring(booted, 4).run(until_ms=90)
    assert whole.servers["stdout"].str.contains("20 packets received").all()
    times = random.Random(2)
    for _ in range(points):
        before = ring(booted, 4).run(until_ms=times.uniform(5, 80), checkpoint=file)
        assert position(file)["unsaved"] == ""
        assert position(file)["digest"] == before.digest
        after = ring(booted, 4).run(until_ms=90, restart=file)
        assert after.digest == whole.digest
        assert list(after.servers["stdout"]) == list(whole.servers["stdout"])


@pytest.mark.long("it boots Linux")
def test_linux_servers_rest_alike_wherever_a_run_is_divided(booted: Path) -> None:
    """The host's time divides runs too: what is counted by time must not show that."""
    whole = ring(booted, 4).run(until_ms=8)
    divided = ring(booted, 4).run(until_ms=8, sample_us=37.1, sample_ports=["tor0.port0"])
    assert divided.digest == whole.digest
    assert divided.servers.equals(whole.servers)


@pytest.mark.long
def test_a_file_that_is_damaged(booted: Path, tmp_path: Path) -> None:
    file = tmp_path / "state"
    ring(booted, 2).run(until_ms=1, checkpoint=file)
    damaged = bytearray(file.read_bytes())
    damaged[-100] ^= 1
    file.write_bytes(damaged)
    with pytest.raises(RackwrightError, match="the state of the cluster is damaged"):
        ring(booted, 2).run(until_ms=2, restart=file)


@pytest.mark.long
def test_linux_servers_with_caches_go_on_from_their_state(booted: Path, tmp_path: Path) -> None:
    goes_on(lambda: ring(booted, 2, "rocket"), 4, [1.3, 2.9], tmp_path / "state")


def pings() -> Cluster:
    """Pairs of bare-metal servers with harts of each model, two of which have harts that wait for a unit."""
    switch = Switch("tor")
    for index, cpu in enumerate(("functional", "rocket", "boom")):
        answers = Server(cpu, name=f"answers-{cpu}", workload=BareMetal("ping.elf"))
        asked = BareMetal("ping.elf", [answers, "40", str(56 + 101 * index), str(900 + 77 * index)])
        switch.add_downlinks([answers, Server(cpu, name=f"asks-{cpu}", workload=asked)])
    return Cluster(switch, link=Ethernet(latency_us=0.5))


def beside_units(folder: Path) -> Cluster:
    """Servers with harts of each model, which wait for units beside them."""
    unit = UnitConfig("snappy-decompress")
    (folder / "units.h").write_text(server_header([unit_manifest(unit)]), encoding="utf-8")
    source = folder / "units.c"
    source.write_text(f'#include "bare.h"\n{UNIT_CALLS}')
    file = compile_bare_metal([source], folder / "units.elf", [f"-I{folder}"])
    switch = Switch("tor")
    for cpu in ("functional", "rocket", "boom"):
        switch.add_downlinks([Server(cpu, [unit], name=cpu, workload=BareMetal(file))])
    return Cluster(switch, link=Ethernet(latency_us=0.5))


def test_a_unit_has_the_same_name_in_each_description(tmp_path: Path) -> None:
    """Or else a run with units would not go on from its checkpoint."""
    described = [beside_units(tmp_path).topology.description["nodes"] for _ in range(2)]
    assert described[0] == described[1]


POINTS = 100
"""Of each kind of server."""


@pytest.mark.long
def test_bare_metal_servers_go_on_from_their_state(tmp_path: Path) -> None:
    times = random.Random(7)
    goes_on(pings, 0.12, [times.uniform(0.002, 0.11) for _ in range(POINTS)], tmp_path / "state")


@pytest.mark.long
def test_harts_that_wait_for_units_go_on_from_their_state(tmp_path: Path) -> None:
    assert list(beside_units(tmp_path).run(until_ms=0.3).servers["exit_code"]) == [0, 0, 0]
    times = random.Random(8)
    points = [times.uniform(0.001, 0.055) for _ in range(POINTS)]
    goes_on(lambda: beside_units(tmp_path), 0.06, points, tmp_path / "state")


@pytest.mark.long
def test_sixty_four_linux_servers_are_restored_in_five_seconds(booted: Path, tmp_path: Path) -> None:
    file = tmp_path / "state"
    before = ring(booted, 64).run(until_ms=40, checkpoint=file)
    cycles = int(str(position(file)["cycle"]))
    until = cycles / before.cycles * 40
    assert seconds(lambda: ring(booted, 64).run(until_ms=until, restart=file)) < 5
