"""`rw map`: servers by their parts, as the engine builds them."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from command_line import REPOSITORY, rw

from rackwright import BareMetal, Cluster, Ethernet, Linux, Program, Server
from rackwright.cluster.topology import Topology
from rackwright.machine_map.drawing import map_diagram
from rackwright.machine_map.load import servers_of

PING = REPOSITORY / "examples" / "clusters" / "ping.py"
PROGRAM = REPOSITORY / "examples" / "servers" / "program.yaml"

SERVER_KEYS = ["name", "runs", "cpu", "harts", "clock_hz", "parts"]
PART_KEYS = ["kind", "name", "clock_hz", "address", "size_bytes", "interrupt", "functs", "detail"]


def parts(server: dict[str, Any], kind: str) -> dict[str, dict[str, Any]]:
    """The parts of a kind, by name."""
    return {part["name"]: part for part in server["parts"] if part["kind"] == kind}


def test_a_server_of_a_cluster_is_mapped_without_a_run(tmp_path: Path) -> None:
    drawing = tmp_path / "asks.svg"
    ended = rw("map", PING, "--node", "asks", "--svg", drawing, "--json")
    (server,) = ended.json()["servers"]
    assert list(server) == SERVER_KEYS
    assert list(server["parts"][0]) == PART_KEYS
    assert (server["runs"], server["cpu"], server["harts"]) == ("bare-metal", "rocket", 1)
    devices = parts(server, "device")
    assert devices["nic"]["address"] == 0x1001_6000
    assert list(devices) == ["aclint", "host interface", "nic"]
    assert "round trip" not in ended.stderr
    text = " ".join(ElementTree.parse(drawing).getroot().itertext())
    assert "0x10016000, 4 KiB" in text


def test_a_program_has_units_and_no_devices() -> None:
    (server,) = rw("map", PROGRAM, "--json").json()["servers"]
    assert server["runs"] == "program"
    assert parts(server, "device") == {}
    unit = parts(server, "unit")["stream-copy"]
    assert unit["functs"] == [[2, 0, 127]]
    assert unit["address"] is None


def test_all_servers_of_a_cluster_are_listed() -> None:
    servers = [Server(name=f"s{number}", workload=BareMetal("ping.elf", [])) for number in range(2)]
    servers[0].connect(servers[1])
    mapped = servers_of(Cluster(servers[0]).topology)
    assert [each.name for each in mapped] == ["s0", "s1"]
    assert all(layer.boxes for layer in map_diagram(mapped[0]).layers)


def test_a_node_that_runs_a_program_in_user_mode_has_neither_devices_nor_memory_of_bare_metal() -> None:
    servers = [Server(name=name, workload=Program(name)) for name in ("one", "other")]
    servers[0].connect(servers[1])
    record = servers_of(Topology.reached_from([servers[0]], Ethernet()))[0].record()
    assert record["runs"] == "program"
    assert parts(record, "memory")["address space"]["size_bytes"] == 1 << 33
    assert parts(record, "device") == {}


def test_linux_has_devices_and_functions_on_the_pci_bus() -> None:
    servers = [Server(name=name, workload=Linux("default"), harts=4) for name in ("one", "other")]
    servers[0].connect(servers[1])
    record = servers_of(Cluster(servers[0]).topology)[0].record()
    assert parts(record, "memory")["memory"]["size_bytes"] == 512 << 20
    assert parts(record, "device")["uart console"]["interrupt"] == 10
    functions = parts(record, "pci")
    assert [(name, part["interrupt"]) for name, part in functions.items()] == [
        ("virtio entropy", 20),
        ("virtio nic", 21),
    ]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("cpu: rocket\nhart: 2\n", "has 'hart'"),
        ("cpu: m1\n", "no core model m1"),
        ("accelerators: [warp]\n", "no unit is named warp"),
        ("timing: {clock: 3}\n", "timing has 'clock'"),
        ("[]\n", "is not a mapping"),
    ],
)
def test_a_wrong_server_is_one_line(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "server.yaml"
    path.write_text(text)
    ended = rw("map", path)
    assert ended.status == 1
    last = ended.stderr.strip().splitlines()[-1]
    assert str(path) in last
    assert complaint in last


def test_an_unknown_node_and_a_script_without_a_cluster_are_one_line(tmp_path: Path) -> None:
    assert "no server is called nobody; there are asks, " in rw("map", PING, "--node", "nobody").stderr
    script = tmp_path / "nothing.py"
    script.write_text("print(1)\n")
    assert "without running a cluster" in rw("map", script).stderr
    for path, complaint in [(tmp_path, "no such file, but a folder"), (tmp_path / "no.py", "no such file")]:
        ended = rw("map", path)
        assert ended.status == 1
        assert ended.stderr.strip().splitlines()[-1] == f"rw: {path}: {complaint}"
    assert "choose one by --node" in rw("map", PING, "--svg", tmp_path / "all.svg").stderr
