"""`rw bench queues`: the cost of elements in queues, compared with other interfaces to the same unit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import fsum
from pathlib import Path

from bootstrap.paths import REPOSITORY
from rackwright.errors import RackwrightError
from rackwright.machine.programs import compile_program
from rackwright.machine.server import Server
from rackwright.reports.records import write_records
from rackwright.tiles.layout import Layout, read_layout
from rackwright.tiles.machine import tile_server
from rackwright.unit.config import UnitConfig

TABLE = REPOSITORY / "validation" / "queues" / "table.csv"
TILES = REPOSITORY / "examples" / "tiles" / "two-by-two.yaml"
PROGRAM = REPOSITORY / "software" / "tiles" / "queues.c"

UNIT = "stream-copy"
"""The unit does as little as possible with a payload, so that the interface dominates."""

BATCHES = (1, 2, 4, 8, 16, 32, 64)
BATCHED_BYTES = 64
"""Bytes of each payload of a batch."""

SIZES = (64, 256, 1024, 4096, 16384, 65536)
"""Bytes of a payload."""

WAYS = ("queue", "registers", "command")

_MOST_ELEMENTS, _MOST_BYTES = 192, 1 << 20
"""Of one measurement."""


@dataclass(frozen=True)
class QueueRow:
    """One measurement; see docs/json.md.

    `cycles_per_element` is over all, `round_trip_cycles` the median of a batch.
    """

    test: str
    unit: str
    by: str
    element_bytes: int
    payload_bytes: int
    producers: int
    consumers: int
    batch: int
    elements_per_second: float
    cycles_per_element: float
    round_trip_cycles: int
    p99_cycles: int
    clock_hz: int
    clock_source: str
    verified: bool
    digest: str


def measure(layout: Layout) -> Iterator[QueueRow]:
    """Measures batches of small payloads by queue, then payloads of each size by each interface.

    Raises `RackwrightError` when the first tile with a unit has another one than `UNIT`.
    """
    units = [tile for tile in layout.tiles if not tile.is_hart]
    if not units or units[0].holds != UNIT:
        raise RackwrightError(f"the first tile with a unit has to have {UNIT}, whose queues are measured")
    program = compile_program([PROGRAM])
    tiles = tile_server(layout)
    commands = Server("rocket", [UnitConfig(UNIT)])
    for batch in BATCHES:
        yield measure_row("batch", "queue", tiles, program, BATCHED_BYTES, batch)
    for size in SIZES:
        for way in WAYS:
            yield measure_row("size", way, commands if way == "command" else tiles, program, size, 1)


def measure_row(test: str, way: str, server: Server, program: Path, size: int, batch: int) -> QueueRow:
    """One measurement by `program`, on a server with tiles, or beside the unit for `command`."""
    elements = batch * max(
        3, min(_MOST_ELEMENTS, _MOST_BYTES // size // (8 if way == "registers" else 1)) // batch
    )
    result = server.run(program, [way, str(size), str(batch), str(elements)])
    numbers = [int(word) for word in result.stdout.split()]
    if result.exit_code != 0 or len(numbers) != 3:
        raise RackwrightError(f"{PROGRAM.name} {way} {size} {batch}: ended with {result.exit_code}")
    cycles, median, p99 = numbers
    return QueueRow(
        test,
        UNIT,
        way,
        64 if way == "queue" else 8,
        size,
        1,
        1,
        batch,
        elements * result.clock_hz / cycles,
        cycles / elements,
        median,
        p99,
        result.clock_hz,
        "model",
        True,
        result.digest,
    )


@dataclass(frozen=True)
class Gains:
    """Speed-ups of one interface over another.

    The largest batch over single elements; payloads by queue over words through registers and over commands,
    the mean over all sizes.
    """

    batches: float
    registers: float
    command: float


def gains(rows: list[QueueRow]) -> Gains:
    """Speed-ups of the rows of a complete measurement."""
    per_element = {(row.test, row.by, row.payload_bytes, row.batch): row.cycles_per_element for row in rows}

    def over(way: str) -> float:
        ratios = [per_element["size", way, size, 1] / per_element["size", "queue", size, 1] for size in SIZES]
        return fsum(ratios) / len(ratios)

    single, most = (
        per_element["batch", "queue", BATCHED_BYTES, batch] for batch in (BATCHES[0], BATCHES[-1])
    )
    return Gains(single / most, over("registers"), over("command"))


def default_layout() -> Layout:
    """The tiles that are measured unless others are named."""
    return read_layout(TILES)


def write_table(rows: list[QueueRow]) -> None:
    """Writes rows into the committed table."""
    TABLE.parent.mkdir(parents=True, exist_ok=True)
    write_records(TABLE, QueueRow, rows)
