"""Values of a cluster changed from outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from rackwright import BareMetal, Cluster, Ethernet, Server, Switch, TopologyError, Traffic
from rackwright.cluster import Exponential, Poisson
from rackwright.cluster.session import Session, session
from rackwright.cluster.settings import Settings
from rackwright.errors import RackwrightError
from rackwright.machine.parameters import ServerParameters


def made(values: Sequence[str]) -> Cluster:
    with session(Session(Settings(values))) as asked:
        tor = Switch("tor0")
        server = Traffic("server0", service=Exponential(mean_us=20), cores=4)
        tor.add_downlinks([server, Traffic("client0", sends=Poisson(rate=50_000), to=server)])
        cluster = Cluster(tor, link=Ethernet(latency_us=2), seed=1)
        cluster.run(until_ms=1)
        asked.settings.check_used()
    return cluster


def node(cluster: Cluster, name: str) -> dict[str, Any]:
    found: list[dict[str, Any]] = [
        node for node in cluster.topology.description["nodes"] if node["name"] == name
    ]
    return found[0]


def test_values_of_the_cluster_and_of_nodes_are_set() -> None:
    cluster = made(
        ["link.latency_us=0.5", "link.gbps=100", "tor*.buffer_kib=16", "server0.service.mean_us=30"]
    )
    assert cluster.topology.description["links"][0]["latency_us"] == 0.5
    assert cluster.topology.description["links"][1]["bits_per_second"] == 100_000_000_000
    assert node(cluster, "tor0")["buffer_bytes"] == 16 * 1024
    assert node(cluster, "server0")["service"]["time"] == {
        "kind": "exponential",
        "mean_us": 30,
        "minimum_us": 0.0,
    }


def timing(values: Sequence[str]) -> ServerParameters:
    """What a server runs with."""
    with session(Session(Settings(values))):
        tor, server = Switch(), Server("rocket", name="app", workload=BareMetal("ping.elf"))
        tor.add_downlinks([server])
        Cluster(tor).run(until_ms=0.001)
    return server.timing


def test_numbers_of_a_server_are_set() -> None:
    one = timing(["app.timing.memory.l2-bytes=262144", "app.timing.core.flush=9"])
    assert one == ServerParameters({"l2-bytes": 262144}, {"flush": 9})
    blade = timing(["app.timing=firesim", "app.timing.memory.dram-channels=2"])
    assert blade == ServerParameters({**ServerParameters.preset("firesim").memory, "dram-channels": 2})


def test_numbers_that_a_server_has_not_are_refused() -> None:
    with pytest.raises(RackwrightError, match=r"^--set app\.timing=xeon: no server xeon; there are fireperf"):
        timing(["app.timing=xeon"])
    with pytest.raises(TopologyError, match=r"app.*no parameter l4-bytes; there are l2-bytes"):
        timing(["app.timing.memory.l4-bytes=1"])


def test_true_and_false_and_text() -> None:
    cluster = made(["server0.ecn=true", "client0.ip=172.16.9.9", "tor0.policy=least-queued"])
    assert node(cluster, "server0")["ecn"] is True
    assert node(cluster, "client0")["ip"] == "172.16.9.9"
    assert node(cluster, "tor0")["policy"] == "least-queued"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("link.latency_us", r"must be like link\.latency_us=1"),
        ("link.=1", r"must be like link\.latency_us=1"),
        ("link.latncy=1", "`link` has gbps, latency_us"),
        ("link.latency_us=fast", r"`link\.latency_us` is a number"),
        ("link=1", "`link` is not a single value"),
        ("seed.x=1", "`seed` has no parts"),
        ("rack9.buffer_kib=1", "no node is called `rack9`, and the cluster has link, seed"),
        ("tor0.service=1", "`tor0` has buffer_kib, .*switching_cycles"),
        ("tor0=1", "`tor0` has buffer_kib"),
        ("server0.service.mean=1", r"`server0\.service` has mean_us, minimum_us"),
        ("server0.ecn=yes", r"`server0\.ecn` is true or false"),
    ],
)
def test_what_cannot_be_set_is_told(value: str, message: str) -> None:
    with pytest.raises(RackwrightError, match=f"--set {value}: .*{message}"):
        made([value])


def test_a_value_that_finds_no_place_is_told() -> None:
    settings = Settings(["link.latency_us=1"])
    with pytest.raises(RackwrightError, match="it is part of no cluster that was built and run"):
        settings.check_used()
