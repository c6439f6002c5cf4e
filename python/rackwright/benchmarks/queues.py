"""`rw bench queues`: the cost of elements in queues, compared with other interfaces to the same unit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import fsum
from pathlib import Path

from bootstrap.paths import REPOSITORY
from rackwright.errors import RackwrightError
from rackwright.machine.parameters import ServerParameters
from rackwright.machine.programs import compile_program
from rackwright.machine.server import RunResult, Server
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

CALLERS = 8
CALLERS_PROGRAM = PROGRAM.with_name("callers.c")
SHARED_WAYS = ("queue", "command")

PACKETS_PROGRAM = PROGRAM.with_name("packets.c")
PACKETS = {2048: 31, 1024: 31, 512: 63, 256: 124, 64: 455}
"""Packets of a measurement, by their bytes: they fill their queues, whose places are in the caches then."""

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

    Then payloads of several callers, and packets from unit to unit.

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
    for size in SIZES:
        for way in SHARED_WAYS:
            yield measure_callers(way, size)
    for size in PACKETS:
        yield measure_packets(size)


def measure_row(test: str, way: str, server: Server, program: Path, size: int, batch: int) -> QueueRow:
    """One measurement by `program`, on a server with tiles, or beside the unit for `command`."""
    elements = batch * max(
        3, min(_MOST_ELEMENTS, _MOST_BYTES // size // (8 if way == "registers" else 1)) // batch
    )
    (cycles, median, p99), result = _run(server, program, [way, size, batch, elements])
    element_bytes = 64 if way == "queue" else 8
    return _row((test, way, element_bytes, size), (1, batch), (elements, cycles, median, p99), result)


def measure_callers(way: str, size: int, timing: ServerParameters | None = None) -> QueueRow:
    """Payloads of callers on harts of their own: the tile serves their queue, or a hart by commands."""
    unit = _unit("rocc" if way == "command" else way)
    server = Server("rocket", [unit], harts=CALLERS + 1, timing=timing)
    each = max(2, min(_MOST_ELEMENTS // CALLERS, _MOST_BYTES // size // CALLERS))
    program = compile_program([CALLERS_PROGRAM], options=["-pthread"])
    (cycles, median, p99), result = _run(server, program, [way, size, CALLERS, each])
    measured = (CALLERS * each, cycles, median, p99)
    return _row(("callers", way, 56, size), (CALLERS, 1), measured, result)


def measure_packets(size: int) -> QueueRow:
    """Elements of 8 bytes from a unit to the next one, in packets that both copy."""
    program = compile_program([PACKETS_PROGRAM])
    server = Server("rocket", [_unit("packets"), _unit("packets")])
    (elements, cycles, first), result = _run(server, program, [size, PACKETS[size]])
    return _row(("packets", "queue", 8, size), (1, 1 + size // 8), (elements, cycles, first, first), result)


def _unit(command: str) -> UnitConfig:
    return UnitConfig(UNIT, command=command)


def _run(server: Server, program: Path, words: list[str | int]) -> tuple[list[int], RunResult]:
    """Runs a program, which prints three numbers."""
    result = server.run(program, [str(word) for word in words])
    numbers = [int(word) for word in result.stdout.split()]
    if result.exit_code != 0 or len(numbers) != 3:
        raise RackwrightError(f"{program.name} {words}: ended with {result.exit_code}")
    return numbers, result


def _row(
    test: tuple[str, str, int, int],
    peers: tuple[int, int],
    measured: tuple[int, int, int, int],
    result: RunResult,
) -> QueueRow:
    """The row of a test.

    `test` has its name, by whom, bytes of an element and of a payload; `peers` producers, and elements
    together; `measured` elements, the cycles of all, the median and the 99th percentile.
    """
    (name, way, element_bytes, size), (producers, batch) = test, peers
    elements, cycles, median, p99 = measured
    return QueueRow(
        name,
        UNIT,
        way,
        element_bytes,
        size,
        producers,
        producers,
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
    the mean over all sizes; those of several callers by queue over commands of one, and over a hart that
    gives the unit commands for all; bytes of elements per cycle from unit to unit, in the largest packets.
    """

    batches: float
    registers: float
    command: float
    callers: float
    callers_by_hart: float
    unit_to_unit: float


def gains(rows: list[QueueRow]) -> Gains:
    """Speed-ups of the rows of a complete measurement."""
    per_element = {(row.test, row.by, row.payload_bytes, row.batch): row.cycles_per_element for row in rows}

    def over(way: str, test: str = "size", ours: str = "size") -> float:
        ratios = [per_element[test, way, size, 1] / per_element[ours, "queue", size, 1] for size in SIZES]
        return fsum(ratios) / len(ratios)

    single, most = (
        per_element["batch", "queue", BATCHED_BYTES, batch] for batch in (BATCHES[0], BATCHES[-1])
    )
    largest = max(PACKETS)
    return Gains(
        single / most,
        over("registers"),
        over("command"),
        over("command", ours="callers"),
        over("command", test="callers", ours="callers"),
        8 / per_element["packets", "queue", largest, 1 + largest // 8],
    )


def default_layout() -> Layout:
    """The tiles that are measured unless others are named."""
    return read_layout(TILES)


def write_table(rows: list[QueueRow]) -> None:
    """Writes rows into the committed table."""
    TABLE.parent.mkdir(parents=True, exist_ok=True)
    write_records(TABLE, QueueRow, rows)
