"""`rw bench queues --rates`: how fast tiles are simulated, with six of them busy, with one, and with none.

One hart gives the busy tiles their requests and looks at all of them; without any, it does so all the time,
or sleeps in between.
"""

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

MEASURED = (
    (6, "works", 40_000, 1_000_000),
    (1, "works", 100_000, 4_000_000),
    (0, "works", 20_000_000, 100_000_000),
    (0, "sleeps", 20_000_000, 4_000_000_000),
)
"""Busy tiles, what the hart does, the bar in simulated cycles per second, and measured cycles."""

SHORT = 10
"""A run of this part of the cycles is subtracted, so that the start of a run does not count."""


@dataclass(frozen=True)
class RateRow:
    """A measurement; see docs/json.md. Seconds are those of the processor."""

    tiles: int
    busy: int
    hart: str
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
    for busy, hart, bar, cycles in MEASURED:
        short, short_seconds = _run(server, busy, hart, cycles // SHORT)
        result, seconds = _run(server, busy, hart, cycles)
        _, requests = (int(word) for word in result.stdout.split())
        simulated, spent = result.cycles - short.cycles, max(seconds - short_seconds, 1e-9)
        rate = simulated / spent
        yield RateRow(len(UNITS), busy, hart, requests, simulated, spent, rate, bar, result.digest)


def _run(server: Server, busy: int, hart: str, cycles: int) -> tuple[RunResult, float]:
    program = compile_program([PROGRAM])
    begin = time.process_time()
    result = server.run(program, [str(len(UNITS)), str(busy), str(cycles), hart])
    seconds = time.process_time() - begin
    if result.exit_code != 0:
        raise RackwrightError(f"{PROGRAM.name} with {busy} busy tiles: ended with {result.exit_code}")
    return result, seconds
