"""`rw bench gather`: sparse loops by loads, software prefetch, two threads and the unit `gather`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bootstrap.paths import REPOSITORY
from rackwright.errors import RackwrightError
from rackwright.machine.programs import compile_program
from rackwright.machine.server import Server
from rackwright.reports.records import write_records

PROGRAMS = REPOSITORY / "software" / "gather"
TABLE = REPOSITORY / "validation" / "gather" / "table.csv"

CPUS = ("rocket", "boom")
SOURCES = {"spmv": "kernels.c", "sdhp": "kernels.c", "spmm": "kernels.c", "bfs": "breadth_first.c"}
KERNELS = tuple(SOURCES)
WAYS = ("loads", "prefetch", "threads", "unit")


@dataclass(frozen=True)
class GatherRow:
    """One run; see docs/json.md. `total` is equal for all methods."""

    kernel: str
    by: str
    cpu: str
    elements: int
    cycles_per_element: float
    total: int
    clock_hz: int
    digest: str


def measure(kernels: tuple[str, ...], cpus: tuple[str, ...]) -> Iterator[GatherRow]:
    """Measures each loop with each method on each core.

    Raises `RackwrightError` for an unknown loop, and if two methods disagree.
    """
    for kernel in kernels:
        if kernel not in KERNELS:
            raise RackwrightError(f"no loop {kernel}; there are {', '.join(KERNELS)}")
    programs = {
        source: compile_program([PROGRAMS / source], options=["-pthread"])
        for source in {SOURCES[kernel] for kernel in kernels}
    }
    for cpu in cpus:
        alone, two = Server(cpu, ["gather"]), Server(cpu, harts=2)
        for kernel in kernels:
            rows = [
                _row(two if way == "threads" else alone, programs[SOURCES[kernel]], cpu, kernel, way)
                for way in WAYS
            ]
            if len({row.total for row in rows}) != 1:
                raise RackwrightError(f"{kernel} on {cpu}: the ways disagree")
            yield from rows


def _row(server: Server, program: Path, cpu: str, kernel: str, way: str) -> GatherRow:
    result = server.run(program, [kernel, way])
    if result.exit_code != 0:
        raise RackwrightError(f"{kernel} by {way} on {cpu}: ended with {result.exit_code}")
    cycles, elements, total = (int(word) for word in result.stdout.split())
    return GatherRow(kernel, way, cpu, elements, cycles / elements, total, result.clock_hz, result.digest)


def gains(rows: list[GatherRow]) -> dict[str, dict[str, dict[str, float]]]:
    """By core, loop and other method, the other method's cycles divided by the unit's."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    unit = {(row.cpu, row.kernel): row.cycles_per_element for row in rows if row.by == "unit"}
    for row in rows:
        if row.by != "unit":
            ways = found.setdefault(row.cpu, {}).setdefault(row.kernel, {})
            ways[row.by] = row.cycles_per_element / unit[row.cpu, row.kernel]
    return found


def write_table(rows: list[GatherRow]) -> None:
    """Writes rows into the committed table."""
    TABLE.parent.mkdir(parents=True, exist_ok=True)
    write_records(TABLE, GatherRow, rows)
