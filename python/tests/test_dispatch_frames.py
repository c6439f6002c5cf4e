"""`rw dispatch` with AF_XDP, in network namespaces that the tests make."""

from __future__ import annotations

import json
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml
from command_line import rw
from test_dispatch import WORK, load, running, until

from rackwright.benchmarks.namespaces import FAR, INTERFACE, NEAR, Namespaces, ip
from rackwright.dispatch import Dispatcher, read_configuration
from rackwright.dispatch.metrics import exposition
from rackwright.errors import RackwrightError
from rackwright.loadtest import WorkServices

LONG_REQUEST = 4000
"""Bytes, which are more than a frame has room for: they come in fragments."""


@pytest.fixture
def cable(tmp_path: Path) -> Iterator[Namespaces]:
    """Namespaces in which AF_XDP works; without them a test is skipped."""
    from rackwright._engine import EngineError

    try:
        namespaces = Namespaces()
    except RackwrightError as error:
        pytest.skip(str(error))
    with namespaces:
        try:
            path = written(tmp_path, [], xdp={"interface": INTERFACE, "required": True})
            with namespaces.near(), Dispatcher(read_configuration(path)):
                pass
        except EngineError as error:
            pytest.skip(str(error))
        yield namespaces


def written(folder: Path, replicas: list[str], listen: str = f"{NEAR}:9000", **fields: Any) -> Path:
    path = folder / "dispatch.yaml"
    service = {**WORK, "listen": listen, "replicas": replicas}
    fields = {"metrics": "127.0.0.1:9464", "expiry-ms": 5000, "services": [service], **fields}
    path.write_text(yaml.safe_dump(fields))
    return path


def request(number: int, length: int = 12) -> bytes:
    """A request that takes no time."""
    return struct.pack(">QI", number, 0).ljust(length, b"\0")


def attached() -> bool:
    """Whether a program of XDP is at the interface, in the namespace of this thread."""
    return "xdp" in json.loads(ip("-json", "link", "show", INTERFACE))[0]


def test_frames_are_taken_and_nothing_else_and_nothing_stays(cable: Namespaces, tmp_path: Path) -> None:
    with ExitStack() as stack:
        with cable.far():
            services = stack.enter_context(WorkServices([f"{FAR}:0"] * 3))
        path = written(tmp_path, services.addresses, xdp={"interface": INTERFACE, "mode": "native"})
        with cable.near():
            assert not attached()
            dispatcher = stack.enter_context(running(path))
            assert f"of {INTERFACE}, native, with copies" in dispatcher.line_with("xdp: ")
            assert attached()
        with cable.far():
            result = load(dispatcher.address, 3000, 600, 300)
            assert (result.answered, result.lost) == (600, 0)
            client = stack.enter_context(socket.socket(type=socket.SOCK_DGRAM))
            client.settimeout(10)
            client.connect((NEAR, 9000))
            client.send(request(7, LONG_REQUEST))
            assert client.recv(LONG_REQUEST)[:8] == request(7)[:8]
        with cable.near():
            asked = rw("dispatch", path, "--status", "--json").json()
            assert f"1 queue of {INTERFACE}, native" in rw("dispatch", path, "--status").stdout
            metrics = dispatcher.page("/metrics")
        datagrams = asked["datagrams"]
        # The request in fragments and its answer, which is as long, come through sockets.
        assert (datagrams["received"], datagrams["frames_received"]) == (1202, 1200)
        # Before a replica has answered for the first time, and when many are to go at once, sockets send.
        assert 0 < datagrams["frames_sent"] < 1200
        assert datagrams["malformed_frames"] == datagrams["stray_frames"] == 0
        assert (asked["xdp"]["mode"], asked["xdp"]["refused"], asked["xdp"]["lost"]) == ("native", None, 0)
        assert f'rackwright_dispatch_xdp_lost_total{{interface="{INTERFACE}"}} 0\n' in metrics
        assert "rackwright_dispatch_datagrams_frames_received_total 1200\n" in metrics
        dispatcher.process.send_signal(signal.SIGKILL)
        dispatcher.process.wait()
        with cable.near():
            until(lambda: not attached())


def test_ipv6_goes_through_sockets(cable: Namespaces, tmp_path: Path) -> None:
    near, far = "fd00:9::1", "fd00:9::2"
    with ExitStack() as stack:
        with cable.near():
            ip("address", "add", f"{near}/64", "dev", INTERFACE, "nodad")
        with cable.far():
            ip("address", "add", f"{far}/64", "dev", "far0", "nodad")
            services = stack.enter_context(WorkServices([f"[{far}]:0", f"{FAR}:0"]))
        path = written(
            tmp_path, services.addresses, f"[{near}]:9000", xdp={"interface": INTERFACE, "required": True}
        )
        with cable.near():
            dispatcher = stack.enter_context(Dispatcher(read_configuration(path)))
        with cable.far():
            result = load(dispatcher.addresses[0], 3000, 300, 500)
        assert (result.answered, result.lost) == (300, 0)
        datagrams = dispatcher.status()["datagrams"]
        # The replica with an address of IPv4 answers in frames all the same.
        by_frames = dispatcher.status()["services"][0]["replicas"][1]["answered"]
        assert datagrams["frames_received"] == by_frames > 0


WITHOUT_RIGHTS = """
import os, sys
from pathlib import Path
from rackwright._engine import EngineError
from rackwright.dispatch import Dispatcher, read_configuration

configurations = [read_configuration(Path(name)) for name in sys.argv[1:]]
os.setgroups([])
os.setuid(65534)
for configuration in configurations:
    try:
        with Dispatcher(configuration) as dispatcher:
            print(dispatcher.status()["xdp"]["refused"])
    except EngineError as error:
        print("refused:", error)
"""
"""Starts dispatchers as a user who may nothing."""


def test_without_rights_there_are_sockets_unless_it_is_required(cable: Namespaces, tmp_path: Path) -> None:
    paths = []
    for required in (False, True):
        folder = tmp_path / str(required)
        folder.mkdir()
        paths.append(written(folder, [], xdp={"interface": INTERFACE, "required": required}))
    with cable.near():
        command = [sys.executable, "-c", WITHOUT_RIGHTS, *map(str, paths)]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    reason = "not permitted; it needs the capabilities CAP_BPF, CAP_NET_ADMIN and CAP_NET_RAW"
    assert all(line.endswith(reason) for line in said), said
    assert [line.startswith("refused: xdp: ") for line in said] == [False, True]


def test_what_cannot_be_is_one_line(tmp_path: Path) -> None:
    fields: dict[str, Any] = {"metrics": None, "listen": "127.0.0.1:0"}
    path = written(tmp_path, [], **fields, xdp={"interface": "nowhere0", "required": True})
    refused = rw("dispatch", path)
    reason = "xdp: nowhere0: there is no such interface"
    assert (refused.status, refused.stderr.splitlines()[-1].endswith(reason)) == (1, True)
    path = written(tmp_path, [], **fields, xdp={"interface": "nowhere0"})
    with Dispatcher(read_configuration(path)) as dispatcher:
        status = dispatcher.status()
    assert status["xdp"]["refused"] == "nowhere0: there is no such interface"
    assert 'rackwright_dispatch_xdp_queues{interface="nowhere0",mode="none"} 0' in exposition(status)
    path = written(tmp_path, [], **fields, xdp={"interface": "nowhere0", "mode": "fast"})
    bad = rw("dispatch", path, "--check")
    assert (bad.status, "xdp.mode: Input should be 'auto', 'native' or 'generic'" in bad.stderr) == (1, True)
