"""Figure 4.5: gets that come through the network to a store, by units and by programs."""

from __future__ import annotations

from dataclasses import dataclass

from bootstrap.paths import REPOSITORY
from rackwright.errors import RackwrightError
from rackwright.machine.programs import compile_program
from rackwright.machine.server import Server
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.pengwing.secure import PUBLISHED_HZ
from rackwright.reproduce.reference import compare
from rackwright.tiles.layout import read_layout
from rackwright.tiles.machine import tile_server

TILES = REPOSITORY / "examples" / "tiles" / "store.yaml"
_FOLDER = REPOSITORY / "software"
SOURCES = [
    _FOLDER / "tiles" / "lookups.c",
    _FOLDER / "tiles" / "services" / "datagram.c",
    _FOLDER / "store" / "region.c",
    _FOLDER / "store" / "hash.c",
]
UNITS, PROGRAMS = "uu", "pp"
"""Who is the network, who is the store."""

MOST_GETS = 128


@dataclass(frozen=True)
class Gets:
    """So many gets from the first push to the last pop."""

    gets: int
    cycles: int
    instructions: int

    def per_second(self, hertz: int) -> float:
        """Gets a second at that clock."""
        return self.gets * hertz / self.cycles


@dataclass(frozen=True)
class LookupRun:
    """What the program of the figure says, by the number of gets."""

    points: dict[int, Gets]
    clock_hz: int
    digest: str


def server() -> Server:
    """Three harts, and the units of the figure on tiles."""
    return tile_server(read_layout(TILES))


def run_gets(by: str, most: int = MOST_GETS, *, on: Server | None = None) -> LookupRun:
    """Runs the program; raises `RackwrightError` when a value comes back as another."""
    program = compile_program(SOURCES, options=["-pthread"])
    result = (on or server()).run(program, [by, str(most)])
    lines = [[int(word) for word in line.split()] for line in result.stdout.splitlines()]
    if result.exit_code != 0 or not lines or any(gets != right for gets, right, _, _ in lines):
        raise RackwrightError(f"{SOURCES[0].name} ended with {result.exit_code} and said {result.stdout!r}")
    points = {gets: Gets(gets, cycles, instructions) for gets, _, cycles, instructions in lines}
    return LookupRun(points, result.clock_hz, result.digest)


def measure(settings: Settings) -> Outcome:
    """The figure by units, and by programs on the same harts; a quick run is the same."""
    on = server()
    runs = {}
    for by in (UNITS, PROGRAMS):
        settings.detail(f"pengwing-4.5: up to {MOST_GETS} gets by {'units' if by == UNITS else 'programs'}")
        runs[by] = run_gets(by, on=on)
    units, programs = runs[UNITS], runs[PROGRAMS]
    rate = {gets: point.per_second(units.clock_hz) for gets, point in units.points.items()}
    beside = {gets: point.per_second(programs.clock_hz) for gets, point in programs.points.items()}
    last = units.points[MOST_GETS]
    rows = compare(
        "pengwing/figure_4_5.csv",
        {
            "by units: 1 get, at 2.5 GHz": units.points[1].per_second(PUBLISHED_HZ),
            "by units: 128 gets, at 2.5 GHz": last.per_second(PUBLISHED_HZ),
            "by units: 1 get": rate[1],
            "by units: 8 gets": rate[8],
            "by units: 64 gets": rate[64],
            "by units: 128 gets": rate[MOST_GETS],
            "by units: 128 gets over 1": rate[MOST_GETS] / rate[1],
            "by units: 128 gets over 64": rate[MOST_GETS] / rate[64],
            "by units: instructions of the caller for a get": last.instructions / MOST_GETS,
            "by programs: 1 get": beside[1],
            "by programs: 128 gets": beside[MOST_GETS],
            "units over programs, 1 get": rate[1] / beside[1],
            "units over programs, 128 gets": rate[MOST_GETS] / beside[MOST_GETS],
        },
    )
    return Outcome(rows, [], [run.digest for run in runs.values()])


EXPERIMENT = Experiment(
    "pengwing-4.5",
    "Gets through the network to a store",
    "Pengwing, figure 4.5 and section 4.2.2",
    "`network`, whose frames come back, and `store` behind it, or programs; queues of 1024 elements.",
    measure,
)
