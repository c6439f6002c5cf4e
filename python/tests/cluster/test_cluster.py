"""Clusters as a user builds and runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cluster_shapes import rack

from rackwright import Cluster, Ethernet, RackwrightError, Switch, Traffic
from rackwright.cluster import ClosedLoop, Constant, Empirical, Exponential, Trace


def test_one_request_takes_what_its_parts_take() -> None:
    server = Traffic("server", service=Constant(5))
    client = Traffic("client", sends=Trace([1.0]), to=server)
    switch = Switch(switching_cycles=10)
    switch.add_downlinks([server, client])
    result = Cluster(switch, link=Ethernet(latency_us=2)).run(until_ms=1)
    # 106 bytes are 14 flits: twice over two links, and twice through the switch.
    cycles = 2 * (2 * (6400 + 13) + 10) + 5 * 3200
    assert result.latency["mean_us"] == cycles / 3200
    assert result.quiet


def test_a_record_has_the_documented_keys_and_is_json() -> None:
    record = rack().run(until_ms=1).record()
    assert set(record) >= {
        "digest", "cycles", "clock_hz", "wall_seconds", "cycles_per_second",
        "servers", "ports", "latency", "threads", "ranks",
    }  # fmt: skip
    assert {"instructions", "packets_sent", "packets_received"} <= set(record["servers"][0])
    assert {"sent", "received", "dropped"} <= set(record["ports"][0])
    assert json.loads(json.dumps(record)) == record


def test_loss_is_counted_to_the_packet() -> None:
    switch = Switch("s", buffer_kib=2)
    server = Traffic("server", service=Constant(0), cores=8)
    load = ClosedLoop(outstanding=64)
    clients = [
        Traffic(f"c{n}", sends=load, to=server, request_bytes=1000, requests=500, timeout_us=100)
        for n in range(4)
    ]
    switch.add_downlinks([server, *clients])
    result = Cluster(switch, link=Ethernet(gbps=10)).run(until_ms=1000)
    ports = result.ports.set_index("name")
    assert result.quiet
    assert ports["dropped"].sum() > 0
    assert (ports["offered"] == ports["sent"] + ports["dropped"]).all()
    assert (ports["sent"] == ports.loc[ports["peer"], "received"].to_numpy()).all()
    servers = result.servers
    assert (servers["requests"] == servers["answered"] + servers["lost"]).all()


def test_progress_ends_with_the_whole_run() -> None:
    told: list[tuple[float, float, float]] = []
    rack().run(until_ms=1, progress=lambda done, whole, rest: told.append((done, whole, rest)))
    assert told[-1] == (1000, 1000, 0)
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)


def test_samples_add_up_to_the_counters() -> None:
    result = rack().run(until_ms=1, sample_us=50, sample_ports=["tor.port0", "client0.port0"])
    assert len(result.samples) == 2 * 20
    assert result.digest == rack().run(until_ms=1).digest
    rates = result.samples.groupby("port")["sent_gbps"].sum()
    ports = result.ports.set_index("name")["sent_bytes"]
    for port, rate in rates.items():
        assert rate * 50e-6 * 1e9 / 8 == pytest.approx(ports[str(port)])


def test_impossible_requests_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RackwrightError, match="a capture needs a file and ports"):
        rack().run(until_ms=1, pcap=tmp_path / "x.pcapng")
    with pytest.raises(RackwrightError, match=r"`tor.port9` is not a port"):
        rack().run(until_ms=1, pcap=tmp_path / "x.pcapng", pcap_ports=["tor.port9"])
    with pytest.raises(RackwrightError, match="samples need an interval and ports"):
        rack().run(until_ms=1, sample_us=10)
    with pytest.raises(RackwrightError, match=r"`nobody.port0` is not a port"):
        rack().run(until_ms=1, sample_us=10, sample_ports=["nobody.port0"])
    with pytest.raises(RackwrightError, match="window of 7000 cycles does not fit"):
        rack().run(until_ms=1, window_cycles=7000)


@pytest.mark.parametrize(
    "service", [Exponential(mean_us=1, minimum_us=2), Constant(-1), Empirical([]), Empirical([1], [0])]
)
def test_impossible_distributions_are_refused(service: Exponential | Constant | Empirical) -> None:
    switch = Switch()
    switch.add_downlinks([Traffic("odd", service=service)])
    with pytest.raises(RackwrightError, match="`odd`: "):
        Cluster(switch)
