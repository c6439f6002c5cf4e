"""Host ports: programs of this machine talk through a simulated network."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from rackwright import Cluster, Ethernet, Switch
from rackwright.cluster import HostPort, TopologyError

_MACS = {"a": "02:00:00:00:00:0a", "b": "02:00:00:00:00:0b"}
_EVERYBODY = b"\xff" * 6


def mac(name: str) -> bytes:
    return bytes.fromhex(_MACS[name].replace(":", ""))


def cluster(folder: Path) -> Cluster:
    tor = Switch("tor")
    tor.add_downlinks([HostPort(name, socket=folder / name, mac=_MACS[name]) for name in _MACS])
    return Cluster(tor, link=Ethernet(latency_us=5))


@contextmanager
def outside(folder: Path, name: str) -> Iterator[socket.socket]:
    """The other end of a host port."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
        end.bind(str(folder / f"{name}-outside"))
        end.connect(str(folder / name))
        end.settimeout(60)
        yield end


def test_frames_pass_both_ways_unchanged_and_are_counted(tmp_path: Path) -> None:
    network = cluster(tmp_path)
    with ThreadPoolExecutor(1) as pool, outside(tmp_path, "a") as a, outside(tmp_path, "b") as b:
        running = pool.submit(network.run, 500, threads=1)
        # Each port gives frames to whoever has sent it one, so that both send first.
        a.send(mac("a") + mac("a") + b"\x88\xb5 to nobody else")
        b.send(_EVERYBODY + mac("b") + b"\x88\xb5 b is here")
        assert a.recv(9600) == _EVERYBODY + mac("b") + b"\x88\xb5 b is here"
        frames = [mac("b") + mac("a") + b"\x88\xb5" + bytes([index]) * (20 + index) for index in range(200)]
        for frame in frames:
            a.send(frame)
            assert b.recv(9600) == frame
        answer = mac("a") + mac("b") + b"\x88\xb5" + bytes(9000)
        b.send(answer)
        assert a.recv(9600) == answer
        result = running.result()
    ports = result.ports.set_index("name")
    assert ports["sent"].to_dict() == {"tor.port0": 2, "tor.port1": 200, "a.port0": 201, "b.port0": 2}
    assert ports["dropped"].sum() == 0


def test_simulated_time_does_not_pass_real_time(tmp_path: Path) -> None:
    assert cluster(tmp_path).run(until_ms=50).wall_seconds >= 0.045


def test_sockets_are_removed_with_the_cluster(tmp_path: Path) -> None:
    network = cluster(tmp_path)
    with pytest.raises(TopologyError, match=r"`a`: the socket .*a: Address already in use"):
        cluster(tmp_path)
    del network
    assert list(tmp_path.iterdir()) == []


def test_it_is_a_socket_or_a_tap_device() -> None:
    with pytest.raises(TopologyError, match="a socket or a TAP device"):
        HostPort()
    with pytest.raises(TopologyError, match="a socket or a TAP device"):
        HostPort(socket="x", tap="y")


@pytest.mark.skipif(not os.access("/dev/net/tun", os.W_OK), reason="TAP devices are not permitted here")
def test_a_tap_device_is_an_interface_of_this_machine(tmp_path: Path) -> None:
    tor = Switch("tor")
    tor.add_downlinks([HostPort("tap", tap="rwtest0"), HostPort("b", socket=tmp_path / "b", mac=_MACS["b"])])
    try:
        network = Cluster(tor)
    except TopologyError as error:
        pytest.skip(f"TAP devices are not permitted here: {error}")
    assert "rwtest0" in [name for _, name in socket.if_nameindex()]
    assert network.run(until_ms=1).cycles == 3_200_000
