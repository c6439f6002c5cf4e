"""From tiles to instructions."""

from __future__ import annotations

from rackwright.drx.configuration import Configuration
from rackwright.drx.program import Builder, Program
from rackwright.drx.schedule import Schedule
from rackwright.drx.tiling import Tiling
from rackwright.errors import RackwrightError


def code_of(tilings: list[Tiling], configuration: Configuration) -> Program:
    """The program that computes all tiles of nests, one nest after the other.

    Raises `RackwrightError` when the unit has too few loops or too little instruction memory for it.
    """
    builder = Builder()
    for tiling in tilings:
        Schedule(tiling, configuration.lanes).add_to(builder)
    builder.add("end")
    length = len(builder.program.instructions)
    if length > configuration.instructions:
        raise RackwrightError(
            f"the program has {length:,} instructions, and the unit room for {configuration.instructions:,}"
        )
    if builder.deepest > configuration.loop_depth:
        raise RackwrightError(
            f"the program has {builder.deepest} loops within each other, and the unit "
            f"{configuration.loop_depth}"
        )
    return builder.program
