"""`rw bench queues --rates`: how fast tiles are simulated, with six of them busy, with one, and with none."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from bootstrap.paths import REPOSITORY
from rackwright.errors import RackwrightError
from rackwright.machine.programs import compile_program
from rackwright.machine.server import RunResult, Server
from rackwright.unit.config import UnitConfig

PROGRAM = REPOSITORY / "software" / "tiles" / "rates.c"

HARTS = 3
UNITS = (
    "stream-copy",
    "snappy-compress",
    "zstd-compress",
    "deflate-compress",
    "stream-copy",
    "snappy-compress",
)
"""Of three by three tiles; any data are input of these units."""

BUSY = {6: (40_000, 300_000), 1: (100_000, 1_000_000), 0: (20_000_000, 400_000_000)}
"""By busy tiles: the bar in simulated cycles per second, and the cycles that are measured."""

SHORT = 10
"""A run of this part of the cycles is subtracted, so that the start of a run does not count."""


@dataclass(frozen=True)
class RateRow:
    """A measurement; see docs/json.md. Seconds are those of the processor."""

    tiles: int
    busy: int
    requests: int
    cycles: int
    seconds: float
    cycles_per_second: float
    bar: int
    digest: str


def measure() -> Iterator[RateRow]:
    """Measures each number of busy tiles.

    Raises `RackwrightError` if a request fails.
    """
    server = Server("rocket", [UnitConfig(unit, command="queue") for unit in UNITS], harts=HARTS)
    for busy, (bar, cycles) in BUSY.items():
        short, short_seconds = _run(server, busy, cycles // SHORT)
        result, seconds = _run(server, busy, cycles)
        _, requests = (int(word) for word in result.stdout.split())
        simulated, spent = result.cycles - short.cycles, max(seconds - short_seconds, 1e-9)
        yield RateRow(len(UNITS), busy, requests, simulated, spent, simulated / spent, bar, result.digest)


def _run(server: Server, busy: int, cycles: int) -> tuple[RunResult, float]:
    program = compile_program([PROGRAM])
    begin = time.process_time()
    result = server.run(program, [str(len(UNITS)), str(busy), str(cycles)])
    seconds = time.process_time() - begin
    if result.exit_code != 0:
        raise RackwrightError(f"{PROGRAM.name} with {busy} busy tiles: ended with {result.exit_code}")
    return result, seconds
