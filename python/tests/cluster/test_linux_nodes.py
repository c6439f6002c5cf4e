"""Servers of a cluster that boot Linux, with network interfaces in RTL that Debian's own driver drives."""

from __future__ import annotations

from pathlib import Path

import pytest

from rackwright import Cluster, Ethernet, RackwrightError, Server, Switch
from rackwright.cli.run_cluster import keep_consoles
from rackwright.cluster.result import ClusterResult

SMALL = 256 << 20


def pair() -> tuple[Cluster, Server]:
    """One server that asks another."""
    answers = Server("functional", image="default", name="answers", memory_bytes=SMALL)
    command: list[str | Server] = [
        "sleep 0.05; ping -c 3 -i 0.01 -s 1400 ",
        answers,
        "; ip link show eth0; exit 7",
    ]
    asks = Server("functional", image="default", name="asks", run=command, memory_bytes=SMALL)
    switch = Switch("tor0")
    switch.add_downlinks([answers, asks])
    return Cluster(switch, link=Ethernet(gbps=200, latency_us=20)), asks


def ping(threads: int) -> ClusterResult:
    """A run of the two in which all goes well."""
    cluster, asks = pair()
    result = cluster.run(until_ms=10_000, ends_with=asks, threads=threads)
    servers = result.servers.set_index("name")
    assert "3 packets transmitted, 3 packets received, 0% packet loss" in servers["stdout"]["asks"]
    assert "mtu 1500" in servers["stdout"]["asks"]
    assert servers["exit_code"]["asks"] == 7
    assert servers["error"].isna().all()
    assert (servers["packets_dropped"] == 0).all()
    assert (servers["packets_received"] >= 4).all()
    return result


def test_a_ping_through_two_network_interfaces_in_rtl(tmp_path: Path) -> None:
    consoles = keep_consoles([ping(threads=2)], tmp_path)
    assert set(consoles) == {"answers", "asks"}
    assert "Linux version" in consoles["answers"].read_text()


@pytest.mark.long
def test_a_ping_is_the_same_on_any_number_of_threads() -> None:
    assert len({ping(threads).digest for threads in (1, 2)}) == 1


def test_what_a_linux_server_cannot_be() -> None:
    with pytest.raises(RackwrightError, match="needs an image to boot"):
        Server(run="true")
    with pytest.raises(RackwrightError, match="neither a program nor accelerators"):
        Server(image="default", program="ping.elf")
    with pytest.raises(RackwrightError, match="an MTU is 68 to 9578 bytes, not 67"):
        Server(image="default", mtu=67)
    with pytest.raises(RackwrightError, match="no such file"):
        Server(image="/nowhere.image")
