"""`rw bench store`: gets by the unit `store` and by a program, on a hart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bootstrap.paths import REPOSITORY
from rackwright.errors import RackwrightError
from rackwright.hardware.clocks import clock_of
from rackwright.hardware.designs import elaborate
from rackwright.machine.programs import compile_program
from rackwright.machine.server import Server
from rackwright.reports.records import write_records

By = Literal["unit", "program"]
Draw = Literal["zipf", "even"]
WAYS: tuple[By, ...] = ("unit", "program")
GETS = (1, 2, 4, 8, 16, 32, 64, 128)
"""Of a batch."""

ITEMS = 10_000
KEY_BYTES, VALUE_BYTES = 16, 64
_GETS_IN_ALL = 1024
_FOLDER = REPOSITORY / "software" / "store"
SOURCES = [_FOLDER / name for name in ("gets.c", "region.c", "hash.c")]
TABLE = REPOSITORY / "validation" / "store" / "table.csv"


@dataclass(frozen=True)
class StoreRow:
    """Batches of `gets`, one after the other; see docs/json.md. `first_cycles` are the first one's."""

    test: str
    by: str
    cpu: str
    draw: str
    gets: int
    items: int
    payload_bytes: int
    per_second: float
    cycles: float
    first_cycles: int
    instructions: float
    clock_hz: int
    clock_source: str
    verified: bool
    digest: str


def measure(ways: tuple[By, ...], gets: tuple[int, ...] = GETS, *, draw: Draw = "zipf") -> Iterator[StoreRow]:
    """Each way with batches of so many gets; what comes back is compared with what was stored.

    Raises `RackwrightError` when the program ends otherwise than it should.
    """
    program = compile_program(SOURCES)
    server = Server("rocket", ["store"])
    source = clock_of(elaborate("store")).source
    for by in ways:
        for count in gets:
            yield _row(server, program, by, count, draw, source)


def _row(server: Server, program: Path, by: By, gets: int, draw: Draw, source: str) -> StoreRow:
    batches = max(8, _GETS_IN_ALL // gets)
    result = server.run(program, [by, str(gets), str(batches), str(ITEMS), draw])
    words = result.stdout.split()
    if result.exit_code not in (0, 1) or len(words) != 4:
        raise RackwrightError(
            f"{SOURCES[0].name} by {by} ended with {result.exit_code} and said {result.stdout!r}"
        )
    cycles, instructions, first, right = (int(word) for word in words)
    done = gets * batches
    return StoreRow(
        test="get",
        by=by,
        cpu="rocket",
        draw=draw,
        gets=gets,
        items=ITEMS,
        payload_bytes=VALUE_BYTES,
        per_second=result.clock_hz * done / cycles,
        cycles=cycles / done,
        first_cycles=first,
        instructions=instructions / done,
        clock_hz=result.clock_hz,
        clock_source=source,
        verified=right == done,
        digest=result.digest,
    )


def write_table(rows: list[StoreRow]) -> None:
    """Puts rows into the committed table."""
    TABLE.parent.mkdir(parents=True, exist_ok=True)
    write_records(TABLE, StoreRow, rows)
