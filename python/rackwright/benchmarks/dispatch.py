"""The dispatcher on real sockets beside nginx: requests for a processor's second, latency, and tails.

All processes use loopback addresses of this machine, and run one after another; forwarders can also have a
network namespace of their own, at the other end of a `veth` pair, where AF_XDP can be used.
"""

from __future__ import annotations

import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import yaml

from rackwright.benchmarks.namespaces import FAR, INTERFACE, NEAR, Namespaces
from rackwright.benchmarks.nginx import REQUESTS, SESSIONS, nginx
from rackwright.cluster.distributions import Bimodal, Constant, Distribution, Exponential
from rackwright.cluster.loads import Poisson
from rackwright.loadtest import LoadPlan, LoadResult, WorkServices, put_load

RACKS = 3
REPLICAS = 2
"""Of each rack."""

SCALE = 80
"""The factor by which services are slower than in the paper, so that all of them fit on two processors."""

DISTRIBUTIONS: dict[str, Distribution] = {
    "constant": Constant(25.0 * SCALE),
    "exponential": Exponential(25.0 * SCALE),
    "bimodal": Bimodal(13.0 * SCALE, 130.0 * SCALE, 0.1),
}
"""The distributions of the evaluation (Wang 2025, section 2.5.2), scaled."""

RATES = tuple(10_000.0 * 2 ** (step / 2) for step in range(12))
"""Requests per second that forwarders are offered, one after another, until they lose some."""

POLICIES = ("daronpon", "shortest-queue")
"""With messages when loads cross powers of two, and with one for every change."""

Forwarder = Callable[[str, Sequence[str]], AbstractContextManager[int]]
"""From an address and replicas to a process that forwards between them."""


@dataclass(frozen=True)
class ForwardingRow:
    """The throughput of a forwarder, and its additional latency."""

    forwarder: str
    answered_per_second: float
    """At the highest rate offered at which it lost less than one request in a hundred; 0 if at none."""
    per_cpu_second: float
    """Requests answered at that rate for each second of its own processor time."""
    median_us: float
    """At a low rate, from end to end."""
    added_us: float
    """More than without a forwarder."""


@dataclass(frozen=True)
class TailRow:
    """Latencies with three racks of workers."""

    distribution: str
    forwarder: str
    load: float
    mean_us: float
    p50_us: float
    p99_us: float
    lost: int


def free_address(host: str = "127.0.0.1") -> str:
    """An unused address of this machine."""
    with socket.socket(type=socket.SOCK_DGRAM) as probe:
        probe.bind((host, 0))
        return f"{host}:{probe.getsockname()[1]}"


@contextmanager
def dispatcher(
    listen: str, replicas: Sequence[str], fields: dict[str, object] | None = None
) -> Iterator[int]:
    """Runs `rw dispatch` in a separate process until the block ends; returns the process."""
    service = {
        "name": "work",
        "listen": listen,
        "protocol": {"offset": 0, "bytes": 8},
        "replicas": list(replicas),
    }
    content = {"metrics": None, "services": [service], **(fields or {})}
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "dispatch.yaml"
        path.write_text(yaml.safe_dump(content))
        command = [sys.executable, "-m", "rackwright.cli", "dispatch", str(path)]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            if "work on" not in line:
                raise RuntimeError(f"the dispatcher did not start: {line}")
            yield process.pid
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate()


def _cpu_seconds(process: int) -> float:
    """The processor time of all its threads so far, in nanoseconds, independent of other load."""
    threads = Path(f"/proc/{process}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9


def _sessions(listen: str, replicas: Sequence[str]) -> AbstractContextManager[int]:
    return nginx(listen, replicas, "", SESSIONS)


def _requests(listen: str, replicas: Sequence[str]) -> AbstractContextManager[int]:
    return nginx(listen, replicas, "", REQUESTS)


def _spinning(listen: str, replicas: Sequence[str]) -> AbstractContextManager[int]:
    return dispatcher(listen, replicas, {"busy-poll": True})


FORWARDERS: dict[str, Forwarder] = {
    "rw dispatch": dispatcher,
    "rw dispatch, busy-poll": _spinning,
    "nginx, by client": _sessions,
    "nginx, by request": _requests,
}


def _frames(
    listen: str, replicas: Sequence[str], fields: dict[str, object] | None = None
) -> AbstractContextManager[int]:
    xdp = {"interface": INTERFACE, "required": True}
    return dispatcher(listen, replicas, {"xdp": xdp, **(fields or {})})


def _spinning_frames(listen: str, replicas: Sequence[str]) -> AbstractContextManager[int]:
    return _frames(listen, replicas, {"busy-poll": True})


@dataclass(frozen=True)
class Place:
    """The network namespaces of forwarders, and of clients and services."""

    near: Callable[[], AbstractContextManager[None]]
    """Sockets and processes created in this block belong to the forwarders' namespace."""
    far: Callable[[], AbstractContextManager[None]]
    """Sockets and processes created in this block belong to the clients' and services' namespace."""
    forwarder: str
    """The host of forwarders."""
    service: str
    """The host of services."""
    forwarders: dict[str, Forwarder]
    """The available forwarders."""


LOOPBACK = Place(nullcontext, nullcontext, "127.0.0.1", "127.0.0.1", FORWARDERS)
"""All in one."""


def at_the_cable(namespaces: Namespaces) -> Place:
    """Forwarders in a namespace of their own, with an interface."""
    frames: dict[str, Forwarder] = {
        "rw dispatch, AF_XDP": _frames,
        "rw dispatch, AF_XDP, busy-poll": _spinning_frames,
    }
    return Place(namespaces.near, namespaces.far, NEAR, FAR, {**frames, **FORWARDERS})


def measure_forwarding(
    rates: Sequence[float], seconds: float, repetitions: int, place: Place = LOOPBACK
) -> list[ForwardingRow]:
    """Each forwarder on one processor, before two services that answer at once; medians of several turns."""
    with ExitStack() as stack:
        with place.far():
            services = stack.enter_context(WorkServices([f"{place.service}:0"] * 2))
            direct = [_quiet(services.addresses).latency.p50_us for _ in range(repetitions)]
        turns: dict[str, list[tuple[float, float, float]]] = {name: [] for name in place.forwarders}
        for _ in range(repetitions):
            for name, forwarder in place.forwarders.items():
                turns[name].append(_forwarding(place, forwarder, services.addresses, rates, seconds))
    rows = []
    for name, measured in turns.items():
        answered, per_cpu, median = (statistics.median(values) for values in zip(*measured, strict=True))
        rows.append(ForwardingRow(name, answered, per_cpu, median, median - statistics.median(direct)))
    return rows


def _quiet(targets: Sequence[str]) -> LoadResult:
    plan = LoadPlan(targets, Poisson(2000), requests=4000, warmup=500, connections=1)
    return put_load(plan)


def _forwarding(
    place: Place, forwarder: Forwarder, replicas: Sequence[str], rates: Sequence[float], seconds: float
) -> tuple[float, float, float]:
    with ExitStack() as stack:
        with place.near():
            listen = free_address(place.forwarder)
            process = stack.enter_context(forwarder(listen, replicas))
        _pin(process)
        stack.enter_context(place.far())
        quiet = _quiet([listen])
        answered, per_cpu = 0.0, 0.0
        for rate in sorted(rates):
            before = _cpu_seconds(process)
            plan = LoadPlan([listen], Poisson(rate), requests=round(rate * seconds), timeout_ms=500)
            result = put_load(plan)
            spent = _cpu_seconds(process) - before
            if result.lost > result.sent / 100:
                break
            answered, per_cpu = result.answered_per_second, result.answered / spent
    return answered, per_cpu, quiet.latency.p50_us


def _pin(process: int) -> None:
    """Pins all threads of a process to one processor."""
    for thread in Path(f"/proc/{process}/task").iterdir():
        os.sched_setaffinity(int(thread.name), {min(os.sched_getaffinity(0))})


def measure_tails(
    load: float, seconds: float, distributions: Sequence[str], tell: Callable[[str], None]
) -> list[TailRow]:
    """Three racks of workers behind three dispatchers, and behind three nginx that know all workers."""
    methods = {
        "nginx random": "random;",
        "nginx least_conn": "least_conn;",
        "nginx random two least_conn": "random two least_conn;",
    }
    rows = []
    for distribution in distributions:
        work = DISTRIBUTIONS[distribution]
        with WorkServices(["127.0.0.1:0"] * (RACKS * REPLICAS)) as services:
            for policy in POLICIES:
                tell(f"{distribution}: rw dispatch, {policy}")
                with _racks(services.addresses, policy) as targets:
                    name = f"rw dispatch, {policy}"
                    rows.append(_tail(distribution, name, targets, work, load, seconds))
            for name, method in methods.items():
                tell(f"{distribution}: {name}")
                with ExitStack() as stack:
                    targets = [free_address() for _ in range(RACKS)]
                    for target in targets:
                        stack.enter_context(nginx(target, services.addresses, method, REQUESTS))
                    rows.append(_tail(distribution, name, targets, work, load, seconds))
    return rows


@contextmanager
def _racks(addresses: Sequence[str], policy: str) -> Iterator[list[str]]:
    """A dispatcher for each rack; the addresses for clients."""
    listen = [free_address() for _ in range(RACKS)]
    peers = [free_address() for _ in range(RACKS)]
    key = os.urandom(16).hex()
    with ExitStack() as stack:
        for rack in range(RACKS):
            others = [{"rack": o, "address": peers[o]} for o in range(RACKS) if o != rack]
            fields: dict[str, object] = {
                "rack": rack,
                "policy": policy,
                "key": key,
                "listen-peers": peers[rack],
                "peers": others,
                "gossip-floor": 1,
                # These services are slower than those for which the default is suitable.
                "expiry-ms": 1000,
            }
            own = addresses[rack * REPLICAS : (rack + 1) * REPLICAS]
            stack.enter_context(dispatcher(listen[rack], own, fields))
        yield listen


def _tail(
    distribution: str, forwarder: str, targets: Sequence[str], work: Distribution, load: float, seconds: float
) -> TailRow:
    mean_us = 25.0 * SCALE if distribution != "bimodal" else (0.9 * 13 + 0.1 * 130) * SCALE
    rate = load * RACKS * REPLICAS / mean_us * 1e6
    plan = LoadPlan(targets, Poisson(rate), work, requests=round(rate * seconds), warmup=round(rate / 2))
    result = put_load(plan)
    latency = result.latency
    return TailRow(
        distribution, forwarder, load, latency.mean_us, latency.p50_us, latency.p99_us, result.lost
    )
