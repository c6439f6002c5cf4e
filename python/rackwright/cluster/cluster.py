"""A cluster: a topology that runs."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright import _engine
from rackwright.cluster.drawing import svg
from rackwright.cluster.errors import TopologyError
from rackwright.cluster.links import DEFAULT_LINK, Ethernet
from rackwright.cluster.nodes import Node
from rackwright.cluster.pace import Progress, Sampler, ThreadChoice, advance
from rackwright.cluster.result import ClusterResult
from rackwright.cluster.session import current
from rackwright.cluster.topology import Topology
from rackwright.errors import RackwrightError

if TYPE_CHECKING:
    from rackwright.server import Server


class Cluster:
    """The servers and switches joined to `roots`.

    `link` is used wherever no other link is given. All randomness follows from `seed`. Links and switches
    run at `clock_ghz`. Requests sent in the first `warmup_us` don't count in latencies.
    """

    def __init__(
        self,
        *roots: Node,
        link: Ethernet = DEFAULT_LINK,
        seed: int = 0,
        clock_ghz: float = 3.2,
        warmup_us: float = 0.0,
    ) -> None:
        """Checks the topology.

        Raises `TopologyError`, which names the nodes or the two ends concerned.
        """
        if not roots:
            raise TopologyError("a cluster needs at least one node: Cluster(root)")
        for root in roots:
            if not isinstance(root, Node):
                raise TopologyError(f"a cluster is made of switches and servers, not of {root!r}")
        values = current().settings
        self.topology = Topology.reached_from(roots, values.value("link", link), values.change)
        self.clock_hz = round(values.value("clock_ghz", clock_ghz) * 1e9)
        described = {
            "clock_hz": self.clock_hz,
            "seed": values.value("seed", seed),
            "warmup_us": values.value("warmup_us", warmup_us),
        }
        self._text = json.dumps({**described, **self.topology.description})
        self._designs = self.topology.designs
        self._fresh: _engine.Cluster | None = self._make()

    def run(
        self,
        until_ms: float,
        *,
        threads: int | None = None,
        window_cycles: int | None = None,
        skip_idle: bool = True,
        pcap: str | Path | None = None,
        pcap_ports: Sequence[str] = (),
        sample_us: float | None = None,
        sample_ports: Sequence[str] = (),
        ends_with: Server | Iterable[Server] = (),
        progress: Progress | None = None,
    ) -> ClusterResult:
        """Runs the cluster from reset for `until_ms` of simulated time.

        It ends before, at a multiple of 0.1 ms, when the programs of all servers of `ends_with` have ended.
        Unless `threads` are given, it uses as many as the machine has processors, or one where that turns
        out to be faster. Neither they nor `window_cycles` (how often traffic is exchanged) nor `skip_idle`
        change the result. `pcap` is a pcapng file for what passes `pcap_ports`, each written like
        `tor0.port3`; the ports of a node are numbered in the order in which its links were added. Every
        `sample_us`, what has passed `sample_ports` becomes rows of `samples`. `progress` is called a few
        times per second. In a script that `rw run` runs, its options come before what is said here.
        """
        asked = current()
        until_ms = asked.settings.value("until_ms", until_ms)
        threads = asked.threads or threads
        progress = asked.progress or progress
        if asked.pcap_ports:
            pcap, pcap_ports = asked.path("capture", ".pcapng", len(asked.results)), asked.pcap_ports
        if bool(pcap) != bool(pcap_ports):
            raise RackwrightError("a capture needs a file and ports: pcap='out', pcap_ports=['tor0.port3']")
        if bool(sample_us) != bool(sample_ports):
            raise RackwrightError(
                "samples need an interval and ports: sample_us=10, sample_ports=['tor0.port3']"
            )
        cycles_per_us = self.clock_hz / 1e6
        sampler = (
            Sampler(sample_ports, round(sample_us * cycles_per_us), cycles_per_us) if sample_us else None
        )
        choice = ThreadChoice([threads] if threads else [len(os.sched_getaffinity(0)), 1])
        ends = [ends_with] if isinstance(ends_with, Node) else list(ends_with)
        machine, self._fresh = self._fresh or self._make(), None
        machine.set_skip_idle(skip_idle)
        try:
            if window_cycles is not None:
                machine.set_window(window_cycles)
            if pcap:
                machine.capture(list(pcap_ports), str(pcap))
            for port in sample_ports:
                machine.counters(port)
            machine.end_with([self.topology.name_of(server) for server in ends])
        except _engine.EngineError as error:
            raise RackwrightError(str(error)) from None

        def tell(cycle: int, until: int, rest: float) -> None:
            if progress:
                progress(cycle / cycles_per_us, until / cycles_per_us, rest)

        started = time.perf_counter()
        busy = advance(machine, round(until_ms * 1000 * cycles_per_us), choice, sampler, tell)
        machine.finish()
        result = ClusterResult.from_report(
            json.loads(machine.report()),
            wall_seconds=time.perf_counter() - started,
            threads=choice.mostly,
            quiet=not busy,
            samples=sampler.rows if sampler else [],
        )
        asked.results.append(result)
        return result

    def draw(self, path: str | Path) -> None:
        """Writes the topology as an SVG picture."""
        Path(path).write_text(svg(self.topology))

    def __str__(self) -> str:
        return str(self.topology)

    def _make(self) -> _engine.Cluster:
        try:
            return _engine.Cluster(self._text, self._designs)
        except _engine.EngineError as error:
            raise TopologyError(str(error)) from None
