"""The processes that simulate one cluster together, started by `mpirun`: ranks."""

from __future__ import annotations

import atexit
import functools
import json
import os
import signal
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rackwright.cluster.watch import Watch
from rackwright.errors import RackwrightError

if TYPE_CHECKING:
    from mpi4py import MPI

_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
"""Environment variables with the number of processes of Open MPI, and of MPICH and its derivatives."""

_YIELD = 16
"""Polls for messages, and yields between polls: there may be more processes than processors."""

_CHECK_SECONDS = 0.05
"""The interval at which awaited processes are checked."""


class RanksLost(Exception):  # noqa: N818 - not an error yet: whoever catches it says what was measured
    """Some processes are lost; `lost` has their ranks."""

    def __init__(self, lost: list[int]) -> None:
        super().__init__(lost)
        self.lost = lost


class Ranks:
    """All processes of a run, seen from one of them."""

    def __init__(self) -> None:
        self._mpi = _import_mpi()
        self._world: MPI.Comm = self._mpi.COMM_WORLD
        self.rank: int = self._world.Get_rank()
        self.size: int = self._world.Get_size()
        self.watch = Watch(self.rank, self._world.allgather)
        self._asked_to_end = False
        signal.signal(signal.SIGTERM, self._note_end)
        self._whole = True
        atexit.register(self._finish)

    @property
    def leads(self) -> bool:
        """Whether this is the rank that prints and writes."""
        return self.rank == 0

    def exchange(self, messages: Sequence[bytes]) -> list[bytes]:
        """Sends `messages[r]` to every rank r, and returns the messages of all ranks for this one.

        Raises `RanksLost` if a rank is lost.
        """
        others = [rank for rank in range(self.size) if rank != self.rank]
        sending = [self._world.Isend(messages[rank], rank) for rank in others]
        answers = list(messages)
        status = self._mpi.Status()
        looks, checked = 0, time.monotonic()
        while others or not self._mpi.Request.Testall(sending):
            arrived = [rank for rank in others if self._world.Iprobe(rank, status=status)]
            for rank in arrived:
                self._world.Probe(rank, status=status)
                answer = bytearray(status.Get_count(self._mpi.BYTE))
                self._world.Recv(answer, rank)
                answers[rank] = bytes(answer)
                others.remove(rank)
            looks = 0 if arrived else looks + 1
            if looks % _YIELD == _YIELD - 1:
                os.sched_yield()
            if self._asked_to_end or time.monotonic() - checked > _CHECK_SECONDS:
                self._check()
                checked = time.monotonic()
        return answers

    def share(self, value: Any) -> list[Any]:
        """The arguments of every rank, in order. Raises `RanksLost` if a rank is lost."""
        return [json.loads(text) for text in self.exchange([json.dumps(value).encode()] * self.size)]

    def part(self, lost: list[int], report: str) -> dict[int, str] | None:
        """Ends after a loss: the lowest remaining rank gets all measurements, the others get None."""
        self._whole = False
        self.watch.leave(lost, report)
        left = [rank for rank in range(self.size) if rank not in lost]
        if self.rank != left[0]:
            return None
        return {**self.watch.gather(lost), self.rank: report}

    def give_up(self) -> None:
        """Announces that this process cannot continue; the others detect its exit."""
        self._whole = False

    def names(self, ranks: Sequence[int]) -> str:
        """Ranks as messages call them."""
        return ", ".join(map(self.watch.name, ranks))

    def _check(self) -> None:
        # After a loss, mpirun terminates all other processes; the notification of the loss may arrive
        # slightly later.
        lost = self.watch.lost(seconds=0.2 if self._asked_to_end else 0.0)
        if lost:
            raise RanksLost(lost)
        if self._asked_to_end:
            self._whole = False
            raise RackwrightError(f"rank {self.rank} was asked to end")

    def _note_end(self, *_: object) -> None:
        self._asked_to_end = True

    def _finish(self) -> None:
        """Finalises MPI, unless a rank is lost, for which it would wait."""
        if self._whole:
            self.watch.leave([], "")
            self._mpi.Finalize()


def _import_mpi() -> Any:
    try:
        import mpi4py

        mpi4py.rc.finalize = False
        # When a connection is closed, Open MPI's processes notify their daemon, and wait for its response. A
        # daemon that terminates them does not respond, so that this must be skipped.
        os.environ.setdefault("OMPI_MCA_orte_execute_quiet", "1")
        from mpi4py import MPI
    except ImportError as error:
        raise RackwrightError(
            f"ranks need mpi4py, which is in rackwright[mpi], and an MPI library: {error}"
        ) from None
    return MPI


@functools.cache
def world() -> Ranks | None:
    """The processes that `mpirun` has started; None when this is the only one."""
    return Ranks() if any(int(os.environ.get(name, "1")) > 1 for name in _SIZES) else None
