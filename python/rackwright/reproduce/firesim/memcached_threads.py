"""Figure 2.7: threads of memcached on four harts, and the tail of its latencies."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from rackwright.cluster import Cluster, ClusterResult, Ethernet, Switch
from rackwright.linux.boot import boot
from rackwright.linux.image import Image, build_image, default_image, load_image
from rackwright.machine.programs import linux_program
from rackwright.machine.server import Server
from rackwright.machine.workloads import Linux
from rackwright.reports.plots import line_chart
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.guests import PAPERS_TIME, later
from rackwright.reproduce.reference import compare

HARTS = 4
"""The harts of memcached. A further one handles the card's interrupt and passes on received packets."""
GENERATORS = 7
CONNECTIONS = 20
"""Connections of each load generator: together a multiple of 4 and of 5 threads."""
LOADS, QUICK_LOADS = (20_000, 35_000, 50_000), (35_000,)
"""Requests per second of all load generators."""
MEASURED_MS, QUICK_MEASURED_MS = 200, 20
WARMUP_MS = 10
SERVER_MEMORY_BYTES, GENERATOR_MEMORY_BYTES = 512 << 20, 128 << 20
SERVER = "172.16.1.1"

_HARTS_MASK, _NETWORK_MASK = f"{(1 << HARTS) - 1:x}", f"{1 << HARTS:x}"

_FLOWS = 4096
"""The number of connections that steering distinguishes."""

_WORKERS = "grep -l mc-worker /proc/$(pidof memcached)/task/*/comm"
"""Files of the threads that serve; memcached has others, which do almost nothing."""

_START = f"""taskset {_HARTS_MASK} memcached -d -u root -t {{threads}} -l 0.0.0.0 -m 64 -c 1024
while [ $({_WORKERS} | wc -l) -lt {{threads}} ]; do sleep 0.01; done
"""

_STEER = f"""for file in /proc/irq/*/smp_affinity; do echo {_NETWORK_MASK} > $file; done 2> /dev/null
echo {_FLOWS} > /proc/sys/net/core/rps_sock_flow_entries
for queue in /sys/class/net/e*/queues/rx-0; do
    echo {_HARTS_MASK} > $queue/rps_cpus
    echo {_FLOWS} > $queue/rps_flow_cnt
done
"""
"""Receive flow steering: TCP's part of a request is done on the hart whose thread will answer it.

Linux before 5.1, as the paper's, let any hart take an interrupt, so that none did the network's part for all.
"""

_PIN = f"""hart=1
for file in $({_WORKERS}); do
    thread=${{file%/comm}}
    taskset -p $hart ${{thread##*/}}
    hart=$((2 * hart))
done
"""

_STAY = "while sleep 3600; do :; done\n"


@dataclass(frozen=True)
class Service:
    """How memcached runs: with so many threads, each on a hart of its own or where the kernel puts it."""

    name: str
    threads: int
    pinned: bool = False


FOUR = Service("4 threads", 4)
FIVE = Service("5 threads", 5)
PINNED = Service("4 threads pinned", 4, pinned=True)
SERVICES = (FOUR, FIVE, PINNED)


@dataclass(frozen=True)
class Point:
    """The results of all load generators together: responses per second, and latencies in us."""

    rate: float
    median_us: float
    p95_us: float
    digest: str


class Bench:
    """Checkpoints of servers that have started memcached, and of load generators."""

    def __init__(self, folder: Path, server: Image, generator: Image) -> None:
        """Boots each of them, on functional harts. The files go into `folder`."""
        self._servers = {
            threads: self._server(folder, server, threads)
            for threads in sorted({service.threads for service in SERVICES})
        }
        self._generator = folder / "generator"
        boot(
            generator,
            memory_bytes=GENERATOR_MEMORY_BYTES,
            timing=PAPERS_TIME,
            files=[linux_program("mutilate")],
            checkpoint=self._generator,
        )

    @staticmethod
    def _server(folder: Path, image: Image, threads: int) -> Path:
        path = folder / f"server{threads}"
        prepare = _START.format(threads=threads)
        boot(
            image,
            harts=HARTS + 1,
            memory_bytes=SERVER_MEMORY_BYTES,
            timing=PAPERS_TIME,
            checkpoint=path,
            prepare=prepare,
        )
        return path

    def run(
        self,
        service: Service,
        load: int,
        measured_ms: int,
        *,
        cpu: str = "rocket",
        threads: int | None = None,
        seed: int = 0,
    ) -> Point:
        """Loads `service`, on harts of the model `cpu`, with `load` requests per second.

        `threads` are those of the host. Raises `AssertionError` if a response was wrong or missing.
        """
        command = _STEER + (_PIN if service.pinned else "") + _STAY
        server = Server(
            cpu,
            workload=Linux(run=command, checkpoint=self._servers[service.threads]),
            name="memcached",
            ip=SERVER,
        )
        asks = [self._asking(index, load / GENERATORS, measured_ms, seed) for index in range(GENERATORS)]
        switch = Switch(switching_cycles=10)
        switch.add_downlinks([server, *asks])
        result = Cluster(switch, link=Ethernet(latency_us=2)).run(
            until_ms=10_000, ends_with=asks, threads=threads
        )
        return _together(result, measured_ms)

    def _asking(self, index: int, rate: float, measured_ms: int, seed: int) -> Server:
        settings = {
            "begin": 30,
            "warmup": WARMUP_MS,
            "measured": measured_ms,
            "rate": round(rate),
            "connections": CONNECTIONS,
            "keys": 50,
            "seed": seed * GENERATORS + index + 1,
        }
        words = " ".join(f"{name}={value}" for name, value in settings.items())
        # The other server has its address by then; Linux would retry ARP only a second later.
        command = f"{later(0.05, seed)}./{linux_program('mutilate').name} {SERVER} {words}"
        return Server(
            "functional",
            workload=Linux(run=command, checkpoint=self._generator),
            name=_generator(index),
            ip=f"172.16.1.{2 + index}",
        )


def _generator(index: int) -> str:
    return f"mutilate{index}"


def _together(result: ClusterResult, measured_ms: int) -> Point:
    rows = result.servers.set_index("name")
    in_time = 0
    latencies: Counter[int] = Counter()
    for name in map(_generator, range(GENERATORS)):
        if rows["exit_code"][name] != 0:
            raise AssertionError(f"{name}: {rows['stderr'][name] or rows['error'][name]}")
        printed = rows["stdout"][name]
        in_time += int(re.findall(r"in time (\d+)", printed)[0])
        for us, count in re.findall(r"(\d+):(\d+)", printed):
            latencies[int(us)] += int(count)
    rate = in_time / measured_ms * 1e3
    return Point(rate, percentile(latencies, 50), percentile(latencies, 95), result.digest)


def percentile(counts: Counter[int], percent: float) -> int:
    """The smallest value that this percentage of all does not exceed."""
    values = sorted(counts)
    wanted = percent / 100 * counts.total()
    reached = accumulate(counts[value] for value in values)
    return next(value for value, so_far in zip(values, reached, strict=True) if so_far >= wanted)


def quantities(load: int, points: dict[str, Point]) -> dict[str, float]:
    """The rows about one load."""
    rows: dict[str, float] = {}
    for name, point in points.items():
        rows[f"{name}, {load} requests per second: answered"] = point.rate
        rows[f"{name}, {load} requests per second: median"] = point.median_us
        rows[f"{name}, {load} requests per second: 95th percentile"] = point.p95_us
    four, five, pinned = (points[service.name] for service in SERVICES)
    rows[f"4 threads over 4 pinned, {load} requests per second: 95th percentile"] = (
        four.p95_us / pinned.p95_us
    )
    rows[f"5 threads over 4 pinned, {load} requests per second: median"] = five.median_us / pinned.median_us
    rows[f"5 threads over 4 pinned, {load} requests per second: 95th percentile"] = (
        five.p95_us / pinned.p95_us
    )
    return rows


def measure(settings: Settings) -> Outcome:
    """Medians and 95th percentiles by load."""
    loads = QUICK_LOADS if settings.quick else LOADS
    measured_ms = QUICK_MEASURED_MS if settings.quick else MEASURED_MS
    rows: dict[str, float] = {}
    curves: dict[str, list[Point]] = {service.name: [] for service in SERVICES}
    with tempfile.TemporaryDirectory(prefix="rackwright-") as folder:
        settings.detail("firesim-2.7: images and boots")
        bench = Bench(Path(folder), load_image(build_image(["memcached"])), load_image(default_image()))
        for load in loads:
            for service in SERVICES:
                settings.detail(f"firesim-2.7: {service.name}, {load:,} requests per second")
                curves[service.name].append(bench.run(service, load, measured_ms, seed=settings.seed))
            rows |= quantities(load, {name: points[-1] for name, points in curves.items()})
    medians = {name: [(p.rate, p.median_us) for p in points] for name, points in curves.items()}
    tails = {name: [(p.rate, p.p95_us) for p in points] for name, points in curves.items()}
    charts = [
        line_chart(f"{title} by load", "answers per second", "us", lines)
        for title, lines in (("median", medians), ("95th percentile", tails))
    ]
    digests = [point.digest for points in curves.values() for point in points]
    return Outcome(compare("firesim/figure_2_7.csv", rows, partial=settings.quick), charts, digests)


EXPERIMENT = Experiment(
    "firesim-2.7",
    "Threads of memcached and the tail of its latencies",
    "Karandikar 2024, section 2.4, figure 2.7",
    "A `rocket` server runs Debian's memcached on 4 harts with 4 threads, 5, and 4 pinned to a hart each; a "
    "fifth hart takes its network interface's interrupt. 7 other Linux servers load it over TCP. NICs in "
    "RTL, links of 2 us.",
    measure,
    guests=True,
)
