"""The simulating processes: this one alone, or several together."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from rackwright import _engine
from rackwright.cluster.pace import ThreadChoice
from rackwright.cluster.ranks import Ranks
from rackwright.errors import RackwrightError

_TRIAL_SECONDS, _TRIAL_SHARE = 0.5, 20
"""Nodes are timed for this long, and for at most this fraction of a run, before ranks are rebalanced."""

Make = Callable[[list[int] | None], _engine.Cluster]
"""Builds the cluster in its first cycle: the partition of this rank, if partitions start at the given
nodes.
"""


class Runner(Protocol):
    """Simulates a cluster from its first cycle on."""

    machine: _engine.Cluster

    @property
    def threads(self) -> int:
        """The number of threads that simulated most of the time."""

    @property
    def leads(self) -> bool:
        """Whether this is the process that writes files."""

    @property
    def saves(self) -> bool:
        """Whether it has the state of all nodes."""

    def advance(self, until: int) -> tuple[bool, float]:
        """Runs towards a cycle; returns whether any event is pending, and the seconds it took."""

    def has_ended(self) -> bool:
        """Whether all programs that end the run have ended."""

    def report(self) -> str:
        """The results of all nodes so far, as JSON."""


class Alone:
    """One process simulates all nodes, on the fastest of its `candidates` for threads."""

    leads = True
    saves = True

    def __init__(self, machine: _engine.Cluster, candidates: Sequence[int]) -> None:
        self.machine = machine
        self._choice = ThreadChoice(candidates)

    @property
    def threads(self) -> int:
        """The number of threads that simulated most of the time."""
        return self._choice.mostly

    def advance(self, until: int) -> tuple[bool, float]:
        """Runs to a cycle; returns whether any event is pending, and the seconds it took."""
        threads, first, before = self._choice.next(), self.machine.cycle, time.perf_counter()
        self.machine.set_threads(threads)
        busy = self.machine.run(first + self._choice.limit(threads, until - first))
        seconds = time.perf_counter() - before
        self._choice.tell(threads, self.machine.cycle - first, seconds)
        return busy, seconds

    def has_ended(self) -> bool:
        """Whether all programs that end the run have ended."""
        return self.machine.has_ended

    def report(self) -> str:
        """The results of all nodes so far, as JSON."""
        return self.machine.report()


class Together:
    """Ranks simulate a share of the nodes each, on one thread each.

    They start with equally many nodes, measure the cost of each, and restart with partitions of equal cost.
    All decisions depend only on exchanged messages, so that all ranks decide the same.
    """

    threads = 1
    saves = False

    def __init__(self, ranks: Ranks, make: Make, nodes: int, until: int, clock_hz: int) -> None:
        if nodes < ranks.size:
            raise RackwrightError(f"{ranks.size} ranks cannot share {nodes} nodes: each needs one at least")
        self._ranks: Ranks = ranks
        self._clock_hz = clock_hz
        self.machine = make(_engine.Cluster.equal_shares([1] * nodes, ranks.size))
        self._try(until // _TRIAL_SHARE)
        costs = ranks.share(self.machine.costs())
        # Nodes that a rank does not simulate cost it almost nothing, so that the largest cost is the true
        # one.
        starts = _engine.Cluster.equal_shares(
            [max(of_node) for of_node in zip(*costs, strict=True)], ranks.size
        )
        self.machine = make(starts)

    @property
    def leads(self) -> bool:
        """Whether this is the process that writes files."""
        return self._ranks.leads

    def advance(self, until: int) -> tuple[bool, float]:
        """Runs to a cycle; returns whether any event is pending, and the seconds that rank 0 took."""
        before = time.perf_counter()
        busy = self.machine.run_share(until, self._ranks.exchange)
        told = self._ranks.share([busy, time.perf_counter() - before])
        return any(busy for busy, _ in told), told[0][1]

    def has_ended(self) -> bool:
        """Whether all programs that end the run have ended."""
        return all(self._ranks.share(self.machine.has_ended))

    def report(self) -> str:
        """The results of all nodes so far, as JSON."""
        return self.assemble(self._ranks.share(self.machine.part_report()))

    def assemble(self, parts: Sequence[str]) -> str:
        """The same, from the reports of the ranks."""
        return _engine.Cluster.assemble(self.machine.cycle, self._clock_hz, parts)

    def _try(self, until: int) -> None:
        length, left = max(1, until // 50), _TRIAL_SECONDS
        while self.machine.cycle < until and left > 0:
            _, seconds = self.advance(min(until, self.machine.cycle + length))
            left -= seconds
