"""A cluster: a topology that runs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright import _engine
from rackwright.cluster.checkpoint import with_state
from rackwright.cluster.drawing import svg
from rackwright.cluster.errors import InterruptedRun, LostRankError, TopologyError
from rackwright.cluster.links import DEFAULT_LINK, Ethernet
from rackwright.cluster.nodes import Node
from rackwright.cluster.observers import observers_of, profiles_of
from rackwright.cluster.pace import Progress
from rackwright.cluster.ranks import world
from rackwright.cluster.result import ClusterResult
from rackwright.cluster.run import Options, Run
from rackwright.cluster.session import current
from rackwright.cluster.topology import Topology

if TYPE_CHECKING:
    from rackwright.machine.server import Server


class Cluster:
    """The servers and switches joined to `roots`.

    `link` is the default for connections without a link. All randomness follows from `seed`. Links and
    switches run at `clock_ghz`. Requests sent in the first `warmup_us` don't count in latencies.
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
                raise TopologyError(f"a cluster consists of switches and servers, not of {root!r}")
        asked = current()
        values = asked.settings
        self.topology = Topology.reached_from(roots, values.value("link", link), values.change)
        self.clock_hz = round(values.value("clock_ghz", clock_ghz) * 1e9)
        described = {
            "clock_hz": self.clock_hz,
            "seed": values.value("seed", seed),
            "warmup_us": values.value("warmup_us", warmup_us),
        }
        self._text = json.dumps({**described, **self.topology.description})
        self._designs = self.topology.designs
        self._is_saved = False
        if asked.checkpoint or asked.restart:
            self._prepare_to_save()
        # The constructor checks the cluster. A rank only needs its share, and cannot know yet which that is.
        self._fresh: _engine.Cluster | None = self._make(self._nothing())

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
        checkpoint: str | Path | None = None,
        checkpoint_us: float | None = None,
        restart: str | Path | None = None,
        progress: Progress | None = None,
    ) -> ClusterResult:
        """Runs the cluster from reset for `until_ms` of simulated time.

        It ends before, at a multiple of 0.1 ms, when the programs of all servers of `ends_with` have ended.
        Unless `threads` are given, the run uses as many as the machine has processors, or one if that is
        measured to be faster; processes started by `mpirun` share the cluster, on one thread each. The result
        does not depend on threads, on `window_cycles` (the interval at which traffic is exchanged) or on
        `skip_idle`. `pcap` is a pcapng file for the frames at `pcap_ports`, each written like `tor0.port3`;
        the ports of a node are numbered in the order in which its links were added. Every `sample_us`, the
        traffic of `sample_ports` is added to `samples` as rows. The file `checkpoint` is written every
        `checkpoint_us` and at the end; `restart` is such a file: the run passes that point again, and its
        state must then be the same. `progress` is called a few times per second. In a script that `rw run`
        runs, its options override these arguments.

        Raises `RackwrightError` for invalid arguments, and if a restart differs from its checkpoint;
        `LostRankError` if another process is lost.
        """
        options = Options(
            until_ms,
            threads=threads,
            window_cycles=window_cycles,
            skip_idle=skip_idle,
            pcap=Path(pcap) if pcap else None,
            pcap_ports=pcap_ports,
            sample_us=sample_us,
            sample_ports=sample_ports,
            ends_with=[
                self.topology.name_of(server)
                for server in ([ends_with] if isinstance(ends_with, Node) else ends_with)
            ],
            checkpoint=Path(checkpoint) if checkpoint else None,
            checkpoint_us=checkpoint_us,
            restart=Path(restart) if restart else None,
            progress=progress,
        )
        asked = current()
        asked.take_topology(self.topology)
        observers = observers_of(asked, self.topology)
        make = partial(self._make, observers=observers) if observers else self._take
        options = options.as_asked(asked)
        if options.checkpoint or options.restart:
            self._prepare_to_save()
        try:
            result = Run(self._text, make, options).result()
        except (InterruptedRun, LostRankError) as end:
            asked.results += [end.result] if end.result else []
            raise
        asked.results.append(result)
        if asked.observing:
            asked.observing.profiles.append(profiles_of(observers, self.topology, result))
        return result

    def machine(self) -> _engine.Cluster:
        """The engine's cluster in its first cycle, for callers that advance it step by step."""
        asked = current()
        asked.take_topology(self.topology)
        asked.stepped = True
        return self._take(None)

    def draw(self, path: str | Path, result: ClusterResult | None = None) -> None:
        """Writes the topology as an SVG picture, with the traffic of each link if `result` is given."""
        Path(path).write_text(svg(self.topology, result))

    def __str__(self) -> str:
        return str(self.topology)

    def _nothing(self) -> list[int] | None:
        """Shares in which all nodes are the first rank's; None for a process without others."""
        ranks, nodes = world(), len(self.topology.description["nodes"])
        return [0, *[nodes] * ranks.size] if ranks else None

    def _prepare_to_save(self) -> None:
        """Checkpoints need other designs."""
        if self._is_saved or world():
            return
        self._designs = with_state(self.topology)
        self._is_saved, self._fresh = True, None

    def _take(self, starts: list[int] | None) -> _engine.Cluster:
        """A cluster in its first cycle: the one built for the check, if it has not been used yet."""
        machine, self._fresh = self._fresh, None
        return machine if machine and not starts else self._make(starts)

    def _make(
        self, starts: list[int] | None, observers: Mapping[str, _engine.Observer] | None = None
    ) -> _engine.Cluster:
        ranks = world()
        share = (ranks.rank, starts) if ranks and starts else None
        try:
            return _engine.Cluster(self._text, self._designs, share, observers or {})
        except _engine.EngineError as error:
            raise TopologyError(str(error)) from None
