"""`rw bench mesh --replay`: messages of runs on tiles, sent through the mesh in RTL at their cycles.

A run on tiles gets the time of each message from a model when the message is sent, so that times under
contention are near, not exact: this measures how near.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.benchmarks.gather import PROGRAMS as GATHER
from rackwright.benchmarks.gather import SOURCES
from rackwright.benchmarks.mesh import compiled_mesh, traffic_only
from rackwright.benchmarks.queues import CALLERS_PROGRAM, PACKETS_PROGRAM, PROGRAM, UNIT
from rackwright.errors import RackwrightError
from rackwright.machine.programs import compile_program
from rackwright.machine.server import Server
from rackwright.tiles.layout import Layout, Tile
from rackwright.tiles.timing import chip_mesh
from rackwright.unit.config import UnitConfig

if TYPE_CHECKING:
    from rackwright import _engine


@dataclass(frozen=True)
class Run:
    """A program on the first harts of a layout, and its units on the places of the first units there."""

    program: Callable[[], Path]
    words: tuple[str | int, ...]
    units: tuple[UnitConfig, ...]
    harts: int | None = 1
    """Number of harts that it uses; None: all of the layout. The word `harts` is this number."""


def _unit(command: str) -> UnitConfig:
    return UnitConfig(UNIT, command=command)


@cache
def _compiled(source: Path) -> Path:
    return compile_program([source], options=["-pthread"])


def _of(source: Path) -> Callable[[], Path]:
    return lambda: _compiled(source)


RUNS = {
    "queue": Run(_of(PROGRAM), ("queue", 64, 1, 64), (_unit("queue"),)),
    "batches": Run(_of(PROGRAM), ("queue", 1024, 64, 192), (_unit("queue"),)),
    "callers": Run(_of(CALLERS_PROGRAM), ("queue", 256, "harts", 64), (_unit("queue"),), None),
    "packets": Run(_of(PACKETS_PROGRAM), (512, 63), (_unit("packets"), _unit("packets"))),
    "spmv": Run(_of(GATHER / SOURCES["spmv"]), ("spmv", "unit"), (UnitConfig("gather"),)),
    "bfs": Run(_of(GATHER / SOURCES["bfs"]), ("bfs", "unit"), (UnitConfig("gather"),)),
}
"""Elements one by one and in batches, of several harts, and from unit to unit; sparse loops."""

MOST_DIFFERENCE = 0.05
"""Of the mean latency on the mesh: above, a row is not verified."""


@dataclass(frozen=True)
class ReplayRow:
    """The messages of a run; see docs/json.md."""

    run: str
    by: str
    cycles: int
    messages: int
    run_latency: float
    mean_latency: float
    mean_difference: float
    alone: int
    alone_equal: int
    verified: bool
    digest: str


def measure(
    layout: Layout,
    names: Sequence[str] = tuple(RUNS),
    *,
    rtl: bool = True,
    design: _engine.Design | None = None,
) -> Iterator[ReplayRow]:
    """A row for each run on the harts of a layout and the places of its first units.

    The messages are sent through the mesh in RTL, `design` if given, or else through its model cycle by
    cycle. Raises `RackwrightError` for an unknown run, for a layout without places for its units, and for a
    program that fails.
    """
    for name in names:
        if name not in RUNS:
            raise RackwrightError(f"no run {name}; there are {', '.join(RUNS)}")
    if rtl and design is None:
        design = compiled_mesh(traffic_only(layout.mesh))
    for name in names:
        run = RUNS[name]
        chip = chip_mesh(_used(layout, name), record=True)
        cycles = _run(run, chip, len(_harts(layout, run)))
        found = chip.replay(design if rtl else None)
        near = abs(found["run_latency"] - found["latency"]) <= MOST_DIFFERENCE * found["latency"]
        yield ReplayRow(
            name,
            "rtl" if rtl else "model",
            cycles,
            found["messages"],
            found["run_latency"],
            found["latency"],
            found["difference"],
            found["alone"],
            found["alone_equal"],
            found["messages"] > 0 and near and found["alone"] == found["alone_equal"],
            found["digest"],
        )


def _harts(layout: Layout, run: Run) -> list[Tile]:
    return [tile for tile in layout.tiles if tile.is_hart][: run.harts]


def _used(layout: Layout, name: str) -> Layout:
    """The layout with the tiles of a run alone."""
    run = RUNS[name]
    units = [tile for tile in layout.tiles if not tile.is_hart]
    if len(units) < len(run.units):
        raise RackwrightError(f"the run {name} needs {len(run.units)} tiles with units")
    return replace(layout, tiles=(*_harts(layout, run), *units[: len(run.units)]))


def _run(run: Run, chip: _engine.ChipMesh, harts: int) -> int:
    """Runs a program on its tiles; returns its cycles."""
    server = Server("rocket", run.units, harts=harts, chip=chip)
    words = [str(harts) if word == "harts" else str(word) for word in run.words]
    program = run.program()
    result = server.run(program, words)
    if result.exit_code != 0:
        raise RackwrightError(f"{program.name} {' '.join(words)}: ended with {result.exit_code}")
    return result.cycles
