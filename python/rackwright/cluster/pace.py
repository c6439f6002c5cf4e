"""How a run proceeds in real time: slices, threads, progress."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from rackwright import _engine

Progress = Callable[[float, float, float], None]
"""Gets the microseconds simulated, those of the whole run, and the seconds it will still take."""

_SLICE_SECONDS = 0.25
_RETRY = 16
"""After so many slices, the slower number of threads gets another chance."""


class ThreadChoice:
    """Finds the fastest of several numbers of threads.

    Threads meet after every window. On a quiet network a window holds little work, and on a busy machine
    a meeting takes long, so that more threads can be slower. The result is the same with any number.
    """

    def __init__(self, candidates: Sequence[int]) -> None:
        self._speeds = dict.fromkeys(candidates, float("inf"))
        self._cycles = dict.fromkeys(candidates, 0)
        self._slices = 0

    def next(self) -> int:
        """How many threads to use now: one not tried yet, or the fastest; now and then another one."""
        self._slices += 1
        if self._slices % _RETRY == 0:
            return min(self._speeds, key=lambda threads: self._speeds[threads])
        return max(self._speeds, key=lambda threads: self._speeds[threads])

    def tell(self, threads: int, cycles: int, seconds: float) -> None:
        """Says what so many threads have achieved."""
        self._speeds[threads] = cycles / max(seconds, 1e-9)
        self._cycles[threads] += cycles

    @property
    def mostly(self) -> int:
        """The number of threads that simulated most of the time."""
        return max(self._cycles, key=lambda threads: self._cycles[threads])


def advance(
    machine: _engine.Cluster, until: int, clock_hz: int, choice: ThreadChoice, progress: Progress | None
) -> bool:
    """Runs to the cycle `until` in slices of about a quarter of a second.

    So progress is told, and Ctrl-C is heard. Returns whether anything is left to happen.
    """
    busy, length = True, max(1, until // 1000)
    started = time.perf_counter()
    while machine.cycle < until:
        threads, first, before = choice.next(), machine.cycle, time.perf_counter()
        machine.set_threads(threads)
        busy = machine.run(min(until, first + length))
        now = time.perf_counter()
        choice.tell(threads, machine.cycle - first, now - before)
        growth = _SLICE_SECONDS / max(now - before, 1e-9)
        length = max(1, int(length * min(max(growth, 0.1), 10)))
        if progress:
            remaining = (now - started) * (until - machine.cycle) / machine.cycle
            cycles_per_us = clock_hz / 1e6
            progress(machine.cycle / cycles_per_us, until / cycles_per_us, remaining)
    return busy
