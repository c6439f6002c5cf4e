"""`rw bench allocate`: the cost of allocations for a hart, with glibc's allocator and the unit `allocate`."""

from __future__ import annotations

import lzma
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bootstrap.paths import REPOSITORY
from rackwright.errors import RackwrightError
from rackwright.machine.programs import compile_program
from rackwright.machine.server import Server
from rackwright.reports.records import write_records

FOLDER = REPOSITORY / "software" / "allocate"
PROGRAM = FOLDER / "replay.c"
TRACES = FOLDER / "traces"
TABLE = REPOSITORY / "validation" / "allocate" / "table.csv"

CPUS = ("rocket", "boom")
WAYS = ("library", "unit", "malloc")
"""glibc's functions, the unit's commands, and glibc's names for the unit (software/allocate/malloc.c)."""

LIVE = (100, 1_000, 10_000, 100_000)
"""Blocks that stay allocated during other allocations and frees."""


@dataclass(frozen=True)
class AllocateRow:
    """One run; see docs/json.md."""

    test: str
    name: str
    by: str
    cpu: str
    calls: int
    cycles_per_call: float
    median_cycles: int
    p99_cycles: int
    clock_hz: int
    digest: str


def traces(files: list[Path]) -> dict[str, bytes]:
    """Traces of programs' allocations and frees, by name: `files`, or our own.

    Raises `RackwrightError` for a file that is no trace.
    """
    found = {}
    for path in files or sorted(TRACES.glob("*.xz")):
        try:
            data = path.read_bytes()
            found[path.stem] = lzma.decompress(data) if path.suffix == ".xz" else data
        except (OSError, lzma.LZMAError) as error:
            raise RackwrightError(f"{path}: {error}") from error
        if not found[path.stem] or len(found[path.stem]) % 4:
            raise RackwrightError(f"{path}: a trace has four bytes for each call")
    return found


def measure(calls: dict[str, bytes], cpus: tuple[str, ...], live: tuple[int, ...]) -> Iterator[AllocateRow]:
    """Measures each trace, and allocations beside live blocks, with each allocator on each core."""
    program = compile_program([PROGRAM])
    replaced = compile_program([PROGRAM], by_units=["malloc"])
    programs = {way: replaced if way == "malloc" else program for way in WAYS}
    with TemporaryDirectory() as folder:
        for cpu in cpus:
            server = Server(cpu, ["allocate"])
            for name, data in calls.items():
                path = Path(folder) / name
                path.write_bytes(data)
                for way in WAYS:
                    yield _row(server, programs[way], cpu, way, ("trace", name, str(path)))
            for blocks in live:
                for way in WAYS:
                    yield _row(server, programs[way], cpu, way, ("live", str(blocks), str(blocks)))


def _row(server: Server, program: Path, cpu: str, way: str, work: tuple[str, str, str]) -> AllocateRow:
    test, name, argument = work
    result = server.run(program, ["unit" if way == "unit" else "library", test, argument])
    if result.exit_code != 0:
        said = result.stderr.decode(errors="replace").strip()
        raise RackwrightError(f"{test} {name} by {way} on {cpu}: {said or result.exit_code}")
    count, cycles, median, p99 = (int(word) for word in result.stdout.split())
    return AllocateRow(
        test, name, way, cpu, count, cycles / count, median, p99, result.clock_hz, result.digest
    )


def gains(rows: list[AllocateRow]) -> dict[str, dict[str, dict[str, float]]]:
    """By way, core and test, the library's cycles per call divided by those of the way."""
    cycles = {(row.by, row.cpu, row.test, row.name): row.cycles_per_call for row in rows}
    found: dict[str, dict[str, dict[str, float]]] = {}
    for (by, cpu, test, name), own in cycles.items():
        if by != "library":
            by_core = found.setdefault(by, {}).setdefault(cpu, {})
            by_core[f"{test} {name}"] = cycles["library", cpu, test, name] / own
    return found


def write_table(rows: list[AllocateRow]) -> None:
    """Writes rows into the committed table."""
    TABLE.parent.mkdir(parents=True, exist_ok=True)
    write_records(TABLE, AllocateRow, rows)
