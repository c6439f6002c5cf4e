"""`rw dispatch` from end to end, on addresses of this machine."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from command_line import REPOSITORY, rw

from rackwright.cluster.distributions import Constant
from rackwright.cluster.loads import Poisson
from rackwright.dispatch import Dispatcher, read_configuration
from rackwright.dispatch.metrics import exposition
from rackwright.loadtest import LoadPlan, LoadResult, Memcached, WorkServices, put_load

WORK: dict[str, Any] = {
    "name": "work",
    "listen": "127.0.0.1:0",
    "protocol": {"offset": 0, "bytes": 8},
    "probe": "00" * 12,
}


def free_port() -> int:
    with socket.socket(type=socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def written(folder: Path, replicas: list[str], name: str = "dispatch", **fields: Any) -> Path:
    """A configuration of one service that works as long as it is asked to."""
    path = folder / f"{name}.yaml"
    content = {"metrics": "127.0.0.1:0", "services": [{**WORK, "replicas": replicas}], **fields}
    path.write_text(yaml.safe_dump(content))
    return path


def until(is_so: Callable[[], object], seconds: float = 20) -> None:
    """Waits until something is so."""
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, "it never was"
        time.sleep(0.005)


def load(
    address: str, rate: float = 2000, requests: int = 200, us: float = 0.0, timeout_ms: float = 500
) -> LoadResult:
    plan = LoadPlan([address], Poisson(rate), Constant(us), requests=requests, timeout_ms=timeout_ms)
    return put_load(plan)


class Running:
    """`rw dispatch` in a process of its own."""

    def __init__(self, path: Path, environment: dict[str, str] | None) -> None:
        command = [str(REPOSITORY / "rw"), "dispatch", str(path), "--json"]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment)
        line = self.line_with("metrics on ")
        self.address = re.findall(r"work on (\S+);", line)[0]
        self.metrics = re.findall(r"metrics on (\S+)", line)[0]

    def line_with(self, text: str) -> str:
        """The next line on standard error that has this in it."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if text in line:
                return line
        raise AssertionError(f"it ended without saying '{text}'")

    def page(self, path: str) -> str:
        """What it serves over HTTP."""
        with urllib.request.urlopen(f"http://{self.metrics}{path}", timeout=10) as answer:
            text: str = answer.read().decode()
            return text


@contextmanager
def running(path: Path, environment: dict[str, str] | None = None) -> Iterator[Running]:
    dispatcher = Running(path, environment)
    try:
        yield dispatcher
    finally:
        dispatcher.process.kill()
        dispatcher.process.communicate()


def test_from_start_to_end(tmp_path: Path) -> None:
    # One of its requests takes longer than the default is made for.
    fields: dict[str, Any] = {"metrics": f"127.0.0.1:{free_port()}", "expiry-ms": 5000}
    with WorkServices(["127.0.0.1:0"] * 3) as services:
        path = written(tmp_path, services.addresses[:2], **fields)
        with running(path) as dispatcher:
            result = load(dispatcher.address, 3000, 600, 500)
            assert (result.answered, result.lost) == (600, 0)
            status = rw("dispatch", path, "--status", "--json").json()
            assert status == {**json.loads(dispatcher.page("/status")), "seconds": status["seconds"]}
            assert status["decisions"]["answered"] == status["datagrams"]["answers"] == 600
            assert "rackwright_dispatch_decisions_answered_total 600\n" in dispatcher.page("/metrics")
            table = rw("dispatch", path, "--status")
            assert services.addresses[0] in table.stdout

            written(tmp_path, services.addresses[1:], **fields)
            dispatcher.process.send_signal(signal.SIGHUP)
            assert "1 replicas added, 1 removed" in dispatcher.line_with("added")
            assert load(dispatcher.address).lost == 0
            written(tmp_path, services.addresses[1:], **fields, rack=5)
            dispatcher.process.send_signal(signal.SIGHUP)
            assert "nothing has changed" in dispatcher.line_with("start it again")
            path.write_text("services: [")
            dispatcher.process.send_signal(signal.SIGHUP)
            assert "is not YAML" in dispatcher.line_with("nothing has changed")

            # What is under way when it is told to end is answered.
            client = socket.socket(type=socket.SOCK_DGRAM)
            client.settimeout(10)
            host, _, port = dispatcher.address.rpartition(":")
            client.connect((host, int(port)))
            client.send(bytes(8) + (300_000_000).to_bytes(4, "big"))
            until(lambda: json.loads(dispatcher.page("/status"))["services"][0]["load"])
            dispatcher.process.send_signal(signal.SIGTERM)
            assert len(client.recv(100)) == 12
            client.close()
            output, _ = dispatcher.process.communicate(timeout=20)
            assert dispatcher.process.returncode == 0
            assert json.loads(output)["decisions"]["requests"] == 801
    gone = rw("dispatch", written(tmp_path, [], **fields), "--status")
    assert (gone.status, "no dispatcher reports its status" in gone.stderr) == (1, True)


def test_bad_configurations_are_one_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("services:\n  - name: a\n")
    result = rw("dispatch", path)
    assert result.status == 1
    assert result.stderr.splitlines()[-1].endswith("bad.yaml:2: services.0.listen: is missing")


def idle(dispatcher: Dispatcher) -> dict[str, Any]:
    """The status when nothing is under way any more."""

    def outstanding() -> int:
        replicas = dispatcher.status()["services"][0]["replicas"]
        return sum(replica["outstanding"] for replica in replicas)

    until(lambda: not outstanding())
    return dispatcher.status()


def test_a_rack_stands_still_is_killed_and_the_others_go_on(tmp_path: Path) -> None:
    """The other rack is a process whose wall clock jumps by an hour with every look at it."""
    from rackwright._engine import Balancer

    ports = [free_port() for _ in range(2)]
    key = os.urandom(16).hex()
    record = tmp_path / "record"

    def configuration(rack: int, replicas: list[str], **more: Any) -> Path:
        peers = [{"rack": 1 - rack, "address": f"127.0.0.1:{ports[1 - rack]}"}]
        listen = f"127.0.0.1:{ports[rack]}"
        fields = {"rack": rack, "key": key, "listen-peers": listen, "peers": peers, **more}
        return written(tmp_path, replicas, f"rack{rack}", **fields)

    with ExitStack() as stack:
        services = stack.enter_context(WorkServices(["127.0.0.1:0"] * 2))
        settings = read_configuration(configuration(0, services.addresses[:1], record=str(record)))
        first = stack.enter_context(Dispatcher(settings))

        def is_alive() -> bool:
            return bool(first.status()["peers"][0]["alive"])

        def helped(rate: float, requests: int, other: Callable[[], int]) -> int:
            """How many requests of a load the other rack was given; lost are only those that nobody took.

            A rack on a busy machine may find no replica alive: `other` says how often the other one did.
            """
            before = first.status()["decisions"]["redirected"]
            result = load(first.addresses[0], rate, requests, 1000, timeout_ms=5000)
            decisions = first.status()["decisions"]
            assert result.lost <= decisions["no_replica"] + other()
            return int(decisions["redirected"] - before)

        with running(configuration(1, services.addresses[1:]), jumping_clock(tmp_path)) as second:
            until(is_alive)

            def no_replica() -> int:
                return int(json.loads(second.page("/status"))["decisions"]["no_replica"])

            # More than the first rack can do alone.
            assert helped(1500, 600, no_replica) > 100
            # A process that stands still for longer than peers have patience finds that its clock has jumped.
            second.process.send_signal(signal.SIGSTOP)
            until(lambda: not is_alive())
            assert helped(500, 100, int) == 0
            second.process.send_signal(signal.SIGCONT)
            until(is_alive)
            assert helped(1500, 600, no_replica) > 100
            status = json.loads(second.page("/status"))
            assert (status["seconds"] < 600, status["decisions"]["stale"]) == (True, 0)
            with ThreadPoolExecutor() as pool:
                under_load = pool.submit(load, first.addresses[0], 600, 1200, 1000, 5000)
                before = first.status()["decisions"]["requests"]
                until(lambda: first.status()["decisions"]["requests"] > before + 200)
                second.process.send_signal(signal.SIGKILL)
                second.process.wait()
                result = under_load.result()
        until(lambda: not is_alive())
        alone = load(first.addresses[0], 500, 100, 1000, 5000)
        status = idle(first)
        assert alone.lost <= status["decisions"]["no_replica"]
        assert status["services"][0]["load"] == 0
    found = json.loads(Balancer.replay(str(record)))
    # What was lost was on its way to the dead rack, which was given requests for 100 ms at most.
    own = status["services"][0]["replicas"][0]["answered"]
    at_the_dead = status["decisions"]["redirected"] - (status["datagrams"]["answers"] - own)
    assert result.lost <= at_the_dead + status["decisions"]["no_replica"]
    assert found["longest_counted_ns"] <= 100e6
    assert found["longest_trusted_ns"] <= 100e6


def jumping_clock(folder: Path) -> dict[str, str]:
    """What makes a process's wall clock jump an hour forth or back with every look at it."""
    source, library = folder / "jump.c", folder / "jump.so"
    source.write_text(JUMPING_CLOCK)
    command = ["cc", "-shared", "-fPIC", "-o", str(library), str(source)]
    subprocess.run(command, check=True)
    return {**os.environ, "LD_PRELOAD": str(library)}


JUMPING_CLOCK = """
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long hour(void) { static unsigned count; return count++ % 2 ? 3600 : -3600; }

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = syscall(SYS_clock_gettime, clock, time);
    if (clock == CLOCK_REALTIME) time->tv_sec += hour();
    return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    int result = syscall(SYS_gettimeofday, time, zone);
    time->tv_sec += hour();
    return result;
}

time_t time(time_t *to) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (to) *to = now.tv_sec;
    return now.tv_sec;
}
"""


@pytest.mark.skipif(shutil.which("memcached") is None, reason="memcached is not installed")
def test_memcached_as_it_is(tmp_path: Path) -> None:
    ports = [free_port() for _ in range(2)]
    with ExitStack() as stack:
        for port in ports:
            command = ["memcached", "-u", "nobody", "-l", "127.0.0.1", "-p", "0", "-U", str(port)]
            process = subprocess.Popen(command)
            stack.callback(process.wait)
            stack.callback(process.kill)
        service = {
            "name": "cache",
            "listen": "127.0.0.1:0",
            "protocol": "memcached",
            "sticky": "key",
            "replicas": [f"127.0.0.1:{port}" for port in ports],
        }
        for replica in service["replicas"]:
            await_memcached(replica)
        path = written(tmp_path, [], services=[service])
        dispatcher = stack.enter_context(Dispatcher(read_configuration(path)))
        client = stack.enter_context(socket.socket(type=socket.SOCK_DGRAM))
        asked = memcached_client(client, dispatcher.addresses[0])
        until(lambda: asked("version")[:7] == b"VERSION")
        for count in range(20):
            assert asked(f"set key{count} 0 0 5\r\nhello") == b"STORED\r\n"
        for count in range(20):
            assert asked(f"get key{count}").startswith(b"VALUE key")
        plan = LoadPlan(dispatcher.addresses, Poisson(5000), protocol=Memcached("get key7"), requests=2000)
        result = put_load(plan)
        assert (result.answered, result.malformed) == (2000, 0)


def await_memcached(address: str) -> None:
    """Waits until a memcached that was just started listens."""
    with socket.socket(type=socket.SOCK_DGRAM) as client:
        asked = memcached_client(client, address)
        until(lambda: asked("version")[:7] == b"VERSION")


def memcached_client(client: socket.socket, address: str) -> Any:
    """A function that asks memcached over UDP, and gives what it says, or nothing."""
    host, _, port = address.rpartition(":")
    client.connect((host, int(port)))
    number = 0

    def asked(command: str) -> bytes:
        nonlocal number
        number += 1
        client.settimeout(0.5)
        try:
            client.send(number.to_bytes(2, "big") + bytes([0, 0, 0, 1, 0, 0]) + command.encode() + b"\r\n")
            while True:
                answer = client.recv(65_536)
                # The answer to a command that was given up may still come.
                if int.from_bytes(answer[:2], "big") == number:
                    return answer[8:]
        except (TimeoutError, ConnectionRefusedError):
            return b""

    return asked


def test_metrics_are_in_the_format_of_prometheus(tmp_path: Path) -> None:
    with WorkServices(["127.0.0.1:0"]) as services:
        path = written(tmp_path, services.addresses)
        with Dispatcher(read_configuration(path)) as dispatcher:
            load(dispatcher.addresses[0], requests=50)
            idle(dispatcher)
            text = exposition(dispatcher.status())
    sample = re.compile(r'^[a-z_]+(\{([a-z]+="[^"]*",?)+\})? [0-9.e+-]+$')
    lines = text.splitlines()
    assert all(line.startswith("# TYPE ") or sample.match(line) for line in lines)
    label = f'{{service="work",replica="{services.addresses[0]}"}}'
    assert f"rackwright_dispatch_replica_answered_total{label} 50" in lines


def test_a_record_is_decided_again(tmp_path: Path) -> None:
    from rackwright._engine import Balancer, EngineError

    record = tmp_path / "record"
    with WorkServices(["127.0.0.1:0"] * 2) as services:
        # Longer than a busy machine takes to answer: every request counts until then.
        fields: dict[str, Any] = {"record": str(record), "expiry-ms": 20_000}
        path = written(tmp_path, services.addresses, **fields)
        with Dispatcher(read_configuration(path)) as dispatcher:
            load(dispatcher.addresses[0], 3000, 300, 400)
    found = json.loads(Balancer.replay(str(record)))
    assert (found["counted"], found["answered"], found["forgotten"]) == (300, 300, {})
    assert found["events"] >= 600
    record.write_text(record.read_text().replace("ReplicaId(0)", "ReplicaId(1)", 1))
    with pytest.raises(EngineError, match="was decided"):
        Balancer.replay(str(record))
