"""Who simulates: this process alone, or several together."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from rackwright import _engine
from rackwright.cluster.pace import ThreadChoice
from rackwright.cluster.ranks import Ranks
from rackwright.errors import RackwrightError

_TRIAL_SECONDS, _TRIAL_SHARE = 0.5, 20
"""Nodes are timed for so long, and for at most one part in so many of a run, before ranks share them out."""

Make = Callable[[list[int] | None], _engine.Cluster]
"""Makes the cluster in its first cycle: the share of this rank, if shares begin at the nodes given."""


class Runner(Protocol):
    """Simulates a cluster from its first cycle on."""

    machine: _engine.Cluster

    @property
    def threads(self) -> int:
        """The number of threads that simulated most of the time."""

    @property
    def leads(self) -> bool:
        """Whether this is the process that writes files."""

    def advance(self, until: int) -> tuple[bool, float]:
        """Runs towards a cycle; returns whether anything is left to happen, and the seconds it took."""

    def has_ended(self) -> bool:
        """Whether all programs have ended with which the run is to end."""

    def report(self) -> str:
        """What has happened so far in all nodes, as JSON."""


class Alone:
    """One process simulates all nodes, on as many of its `candidates` for threads as is fastest."""

    leads = True

    def __init__(self, machine: _engine.Cluster, candidates: Sequence[int]) -> None:
        self.machine = machine
        self._choice = ThreadChoice(candidates)

    @property
    def threads(self) -> int:
        """The number of threads that simulated most of the time."""
        return self._choice.mostly

    def advance(self, until: int) -> tuple[bool, float]:
        """Runs to a cycle; returns whether anything is left to happen, and the seconds it took."""
        threads, first, before = self._choice.next(), self.machine.cycle, time.perf_counter()
        self.machine.set_threads(threads)
        busy = self.machine.run(first + self._choice.limit(threads, until - first))
        seconds = time.perf_counter() - before
        self._choice.tell(threads, self.machine.cycle - first, seconds)
        return busy, seconds

    def has_ended(self) -> bool:
        """Whether all programs have ended with which the run is to end."""
        return self.machine.has_ended

    def report(self) -> str:
        """What has happened so far in all nodes, as JSON."""
        return self.machine.report()


class Together:
    """Ranks simulate a share of the nodes each, on one thread each.

    They begin with equally many nodes, find out what each costs, and begin again with shares that cost the
    same. All that is decided depends on what they have told each other, so that they decide alike.
    """

    threads = 1

    def __init__(self, ranks: Ranks, make: Make, nodes: int, until: int, clock_hz: int) -> None:
        if nodes < ranks.size:
            raise RackwrightError(f"{ranks.size} ranks cannot share {nodes} nodes: each needs one at least")
        self._ranks: Ranks = ranks
        self._clock_hz = clock_hz
        self.machine = make(_engine.Cluster.equal_shares([1] * nodes, ranks.size))
        self._try(until // _TRIAL_SHARE)
        costs = ranks.share(self.machine.costs())
        # Nodes that a rank does not simulate cost it next to nothing, so that the largest is the true one.
        starts = _engine.Cluster.equal_shares(
            [max(of_node) for of_node in zip(*costs, strict=True)], ranks.size
        )
        self.machine = make(starts)

    @property
    def leads(self) -> bool:
        """Whether this is the process that writes files."""
        return self._ranks.leads

    def advance(self, until: int) -> tuple[bool, float]:
        """Runs to a cycle; returns whether anything is left to happen, and the seconds it took rank 0."""
        before = time.perf_counter()
        busy = self.machine.run_share(until, self._ranks.exchange)
        told = self._ranks.share([busy, time.perf_counter() - before])
        return any(busy for busy, _ in told), told[0][1]

    def has_ended(self) -> bool:
        """Whether all programs have ended with which the run is to end."""
        return all(self._ranks.share(self.machine.has_ended))

    def report(self) -> str:
        """What has happened so far in all nodes, as JSON."""
        return self.assemble(self._ranks.share(self.machine.part_report()))

    def assemble(self, parts: Sequence[str]) -> str:
        """The same, from what ranks have reported."""
        return _engine.Cluster.assemble(self.machine.cycle, self._clock_hz, parts)

    def _try(self, until: int) -> None:
        length, left = max(1, until // 50), _TRIAL_SECONDS
        while self.machine.cycle < until and left > 0:
            _, seconds = self.advance(min(until, self.machine.cycle + length))
            left -= seconds
