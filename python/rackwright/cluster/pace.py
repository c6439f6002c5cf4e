"""Progress of a run in real time: slices, threads, reports."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rackwright.cluster.runners import Runner

Progress = Callable[[float, float, float], None]
"""Called with the simulated microseconds, those of the complete run, and the estimated remaining seconds."""

_SLICE_SECONDS = 0.25
_RETRY = 16
"""After this number of slices, the slower number of threads is tried again."""


class Stop(Protocol):
    """An action that is due at certain cycles of a run."""

    def next_after(self, cycle: int) -> int:
        """The first cycle after `cycle` at which the run has to stop for it."""

    def reach(self, runner: Runner) -> None:
        """Does it, if this is the time. The run may have stopped for another reason."""


class ThreadChoice:
    """Finds the fastest of several numbers of threads.

    Threads synchronise after every window. On a quiet network a window holds little work, and on a busy
    machine a meeting takes long, so that more threads can be slower. The result is the same with any number.
    """

    def __init__(self, candidates: Sequence[int]) -> None:
        self._speeds = dict.fromkeys(candidates, float("inf"))
        self._cycles = dict.fromkeys(candidates, 0)
        self._slices = 0

    def next(self) -> int:
        """The number of threads for the next slice: untested, or the fastest; occasionally another one."""
        self._slices += 1
        if self._slices % _RETRY == 0:
            return min(self._speeds, key=lambda threads: self._speeds[threads])
        return max(self._speeds, key=lambda threads: self._speeds[threads])

    def limit(self, threads: int, cycles: int) -> int:
        """The `cycles` that this number of threads simulates in a slice: slower ones get no more time."""
        return min(cycles, max(1, int(min(self._speeds[threads], 1e15) * _SLICE_SECONDS)))

    def tell(self, threads: int, cycles: int, seconds: float) -> None:
        """Records the speed of this number of threads."""
        self._speeds[threads] = cycles / max(seconds, 1e-9)
        self._cycles[threads] += cycles

    @property
    def mostly(self) -> int:
        """The number of threads that simulated most of the time."""
        return max(self._cycles, key=lambda threads: self._cycles[threads])


class Sampler:
    """Reads the counters of some ports at equal intervals of simulated time."""

    def __init__(self, ports: Sequence[str], every: int, cycles_per_us: float) -> None:
        self._ports = ports
        self._every = every
        self._cycles_per_us = cycles_per_us
        self._before = dict.fromkeys(ports, (0, 0, 0))
        self.rows: list[dict[str, float | str]] = []

    def next_after(self, cycle: int) -> int:
        """The next cycle at which to read."""
        return (cycle // self._every + 1) * self._every

    def reach(self, runner: Runner) -> None:
        """Adds a row for each port if it is due: the traffic since the previous one."""
        machine = runner.machine
        if machine.cycle % self._every:
            return
        for port in self._ports:
            now = machine.counters(port)
            received, sent, dropped = (new - old for new, old in zip(now, self._before[port], strict=True))
            self._before[port] = now
            # Bytes per interval in Gbit/s: 8 bits, and 1000 Mbit/s are 1 bit per ns.
            scale = 8 * self._cycles_per_us / self._every / 1000
            self.rows.append(
                {
                    "time_us": machine.cycle / self._cycles_per_us,
                    "port": port,
                    "received_gbps": received * scale,
                    "sent_gbps": sent * scale,
                    "dropped": dropped,
                }
            )


class Looks:
    """Stops at every multiple of a number of cycles, without an action."""

    def __init__(self, every: int) -> None:
        self._every = every

    def next_after(self, cycle: int) -> int:
        """The next cycle at which to stop."""
        return (cycle // self._every + 1) * self._every

    def reach(self, _: Runner) -> None:
        """Nothing."""


def advance(
    runner: Runner, until: int, stops: Sequence[Stop], progress: Callable[[int, int, float], None]
) -> bool:
    """Runs to the cycle `until` in slices of about a quarter of a second, or from stop to stop.

    This allows reports of progress, and Ctrl-C. Returns whether any event is pending.
    """
    busy, length = True, max(1, until // 1000)
    started = time.perf_counter()
    while (first := runner.machine.cycle) < until and not runner.has_ended():
        end = min([until, first + length, *(stop.next_after(first) for stop in stops)])
        busy, seconds = runner.advance(end)
        growth = _SLICE_SECONDS / max(seconds, 1e-9)
        length = max(1, int(length * min(max(growth, 0.1), 10)))
        for stop in stops:
            stop.reach(runner)
        cycle = runner.machine.cycle
        progress(cycle, until, (time.perf_counter() - started) * (until - cycle) / cycle)
    return busy
