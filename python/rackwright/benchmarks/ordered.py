"""`rw bench ordered`: queries of an ordered index by the unit and by a program, on a hart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from bootstrap.paths import REPOSITORY
from rackwright.errors import RackwrightError
from rackwright.hardware.clocks import clock_of
from rackwright.hardware.designs import elaborate
from rackwright.machine.programs import compile_program
from rackwright.machine.server import Server
from rackwright.reports.records import write_records
from rackwright.unit.config import UnitConfig

By = Literal["range", "address", "program"]
Draw = Literal["zipf", "neighbours", "join", "scan"]
WAYS: tuple[By, ...] = ("range", "address", "program")
DRAWS: tuple[Draw, ...] = ("zipf", "neighbours", "join", "scan")

KEYS = 100_000
QUERIES = 16_384
"""Half of them warm the caches."""

_BATCH = 4096
SETS = 256
WAYS_OF_A_SET = {"range": 4, "address": 5}
SOURCE = REPOSITORY / "software" / "ordered" / "gets.c"
TABLE = REPOSITORY / "validation" / "ordered" / "table.csv"


@dataclass(frozen=True)
class OrderedRow:
    """Queries of one kind; see docs/json.md."""

    test: str
    by: str
    cpu: str
    draw: str
    queries: int
    keys: int
    levels: int
    cache_nodes: int
    per_second: float
    cycles: float
    instructions: float
    clock_hz: int
    clock_source: str
    verified: bool
    digest: str


def measure(
    ways: tuple[By, ...] = WAYS, draws: tuple[Draw, ...] = DRAWS, *, keys: int = KEYS, queries: int = QUERIES
) -> Iterator[OrderedRow]:
    """Each way with each kind of queries; what comes back is compared with the keys in order.

    Raises `RackwrightError` when the program ends otherwise than it should.
    """
    program = compile_program([SOURCE])
    for by in ways:
        cache = "range" if by == "program" else by
        nodes = SETS * WAYS_OF_A_SET[cache]
        source = clock_of(elaborate("ordered-index", {"cache": cache})).source
        server = Server("rocket", [UnitConfig("ordered-index", {"cache": cache})])
        batch = str(min(_BATCH, queries // 2))
        words = ["program" if by == "program" else "unit", str(queries), batch, str(keys), str(nodes), *draws]
        result = server.run(program, words)
        lines = result.stdout.splitlines()
        if result.exit_code not in (0, 1) or len(lines) != len(draws):
            raise RackwrightError(
                f"{SOURCE.name} by {by} ended with {result.exit_code} and said {result.stdout!r}"
            )
        for draw, line in zip(draws, lines, strict=True):
            cycles, instructions, right, levels = (int(word) for word in line.split())
            measured = queries // 2
            yield OrderedRow(
                test="query",
                by=by,
                cpu="rocket",
                draw=draw,
                queries=measured,
                keys=keys,
                levels=levels,
                cache_nodes=0 if by == "program" else nodes,
                per_second=result.clock_hz * measured / cycles,
                cycles=cycles / measured,
                instructions=instructions / measured,
                clock_hz=result.clock_hz,
                clock_source=source,
                verified=right == queries,
                digest=result.digest,
            )


def write_table(rows: list[OrderedRow]) -> None:
    """Puts rows into the committed table."""
    TABLE.parent.mkdir(parents=True, exist_ok=True)
    write_records(TABLE, OrderedRow, rows)
