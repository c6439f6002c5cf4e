"""A server whose datagrams are answered by units on tiles; its clients verify every answer."""

from __future__ import annotations

import runpy
import struct
from pathlib import Path

import pytest

from rackwright import BareMetal, Cluster, Ethernet, Server, Switch
from rackwright.cluster import ClusterResult
from rackwright.errors import RackwrightError
from rackwright.tiles.layout import read_layout
from rackwright.tiles.timing import chip_mesh

REPOSITORY = Path(__file__).resolve().parents[3]
EXAMPLE = runpy.run_path(str(REPOSITORY / "examples" / "pengwing" / "memcached.py"))
GETS = runpy.run_path(str(REPOSITORY / "examples" / "pengwing" / "gets.py"))


def asked(clients: int, requests: int, *, threads: int = 1) -> tuple[ClusterResult, list[dict[str, int]]]:
    """The result, and what each client has counted."""
    options = [f"requests={requests}", "keys=4", "sets=300", "value=fixed:120"]
    cluster, _, asks = EXAMPLE["cluster"](clients, "units", *options)
    result = cluster.run(until_ms=5, ends_with=asks, threads=threads)
    told = []
    for client in asks:
        words = result.servers.set_index("name")["stdout"][client.name].split()
        told.append(dict(zip(words[::2], map(int, words[1::2]), strict=True)))
    return result, told


def test_clients_are_answered_and_no_hart_does_it() -> None:
    result, told = asked(2, 20)
    assert [(each["answered"], each["wrong"], each["lost"]) for each in told] == [(20, 0, 0)] * 2
    again, more = asked(2, 30, threads=2)
    assert [each["answered"] for each in more] == [30, 30]
    instructions = [each.servers.set_index("name")["instructions"]["server"] for each in (result, again)]
    assert instructions[0] == instructions[1]
    assert asked(2, 20, threads=2)[0].digest == result.digest


def captured(capture: Path) -> list[tuple[int, int]]:
    """For each packet, the time in picoseconds of its last flit, and its bytes."""
    data, at, found = capture.read_bytes(), 0, []
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            high, low, _, count = struct.unpack_from("<IIII", data, at + 12)
            found.append((high << 32 | low, count))
        at += length
    return found


@pytest.mark.parametrize(
    ("by", "limit_ns", "most_instructions"), [(0, 250, 3000), (1, 700, 10**7), (2, 1500, 20_000)]
)
def test_an_echo_of_64_bytes_is_returned_by_queues_and_by_a_program(
    tmp_path: Path, by: int, limit_ns: int, most_instructions: int
) -> None:
    """Between the last flit of a frame and that of the echo, at the server, after the first few.

    With 2, the program sleeps until a datagram is there.
    """
    capture, latency_ns = tmp_path / "echo.pcapng", 500
    server = Server(name="server", tiles=EXAMPLE["TILES"], workload=BareMetal("returns.elf", ["7", str(by)]))
    client = Server(name="client", workload=BareMetal("echo.elf", [server, "9", "64"]))
    switch = Switch("switch")
    switch.add_downlinks([server, client])
    cluster = Cluster(switch, link=Ethernet(gbps=100, latency_us=latency_ns / 1e3))
    result = cluster.run(until_ms=1, ends_with=client, pcap=capture, pcap_ports=["switch.port0"])
    servers = result.servers.set_index("name")
    assert servers["stdout"]["client"] == "9\n"
    assert servers["instructions"]["server"] <= most_instructions
    (asked, count), (answered, same) = captured(capture)[-2:]
    assert count == same == 14 + 20 + 8 + 64
    assert 0 < (answered - asked) / 1e3 - 2 * latency_ns <= limit_ns


@pytest.mark.long("Debian is booted, and answers 1,500 datagrams")
def test_debian_waits_for_network_half_as_long_as_for_another_debian(tmp_path: Path) -> None:
    example = runpy.run_path(str(REPOSITORY / "examples" / "pengwing" / "round_trip.py"))
    checkpoint = example["booted"](tmp_path)
    unit, program = (example["round_trips"](checkpoint, by, 1500)[0] for by in ("unit", "program"))
    for percent in (50, 99):
        assert example["percentile"](unit, percent) <= example["percentile"](program, percent) / 2


def test_a_server_with_tiles_has_no_other_units_harts_or_mesh() -> None:
    layout = read_layout(REPOSITORY / "examples" / "tiles" / "two-by-two.yaml")
    for others in ({"harts": 2}, {"accelerators": ["snappy"]}, {"chip": chip_mesh(layout)}):
        with pytest.raises(RackwrightError) as raised:
            Server(tiles=EXAMPLE["TILES"], **others, workload=BareMetal("store.elf"))
        assert str(raised.value) == (
            f"{EXAMPLE['TILES']}: a server with `tiles` has their units, harts and mesh, and no others"
        )


@pytest.mark.long("thousands of answers of each of two rates by sixteen clients")
def test_twice_the_load_that_is_served_lowers_what_is_served_by_little() -> None:
    _, peak, wrong, _ = GETS["offered"]("store.yaml", 1, 8, 16, 28.0)
    sent, answered, more_wrong, _ = GETS["offered"]("store.yaml", 1, 8, 16, 56.0)
    assert peak >= 13
    assert sent >= 1.9 * peak
    assert answered >= 0.9 * peak
    assert wrong == more_wrong == 0


@pytest.mark.long("network with four streams is compiled for it")
def test_four_stores_answer_single_gets() -> None:
    sent, answered, wrong, digest = GETS["offered"]("shards.yaml", 4, 1, 24, 14.0)
    assert answered >= 13
    assert answered >= 0.95 * sent
    assert wrong == 0
    assert digest == GETS["offered"]("shards.yaml", 4, 1, 24, 14.0)[3]
