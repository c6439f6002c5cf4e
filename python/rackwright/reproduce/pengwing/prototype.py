"""Section 4.1: the first prototype, four elements to a unit and back on 2 x 2 tiles."""

from __future__ import annotations

from bootstrap.paths import REPOSITORY
from rackwright.errors import RackwrightError
from rackwright.machine.programs import compile_program
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.reference import compare
from rackwright.tiles.layout import read_layout
from rackwright.tiles.machine import tile_server

TILES = REPOSITORY / "examples" / "tiles" / "two-by-two.yaml"
PROGRAM = REPOSITORY / "software" / "tiles" / "prototype.c"


def measure(settings: Settings) -> Outcome:
    """The program of the section; a run is exact, so that a quick one is the same."""
    settings.detail("pengwing-4.1: four elements there and back")
    result = tile_server(read_layout(TILES)).run(compile_program([PROGRAM]))
    numbers = [int(word) for word in result.stdout.split()]
    if result.exit_code != 0 or len(numbers) != 4:
        raise RackwrightError(f"{PROGRAM.name} ended with {result.exit_code} and said {result.stdout!r}")
    first_same, first, again_same, again = numbers
    rows = compare(
        "pengwing/section_4_1.csv",
        {
            "elements that come back as they were pushed": first_same,
            "the same, once more": again_same,
            "cycles of all four": first,
            "cycles of all four, once more": again,
        },
    )
    return Outcome(rows, [], [result.digest])


EXPERIMENT = Experiment(
    "pengwing-4.1",
    "Four elements through the first prototype",
    "Pengwing, section 4.1 and figure 2.2",
    "A `rocket` hart and `stream-copy` on 2 x 2 tiles; a program pushes four elements and pulls them back.",
    measure,
)
