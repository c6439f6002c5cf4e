"""Harts that are the Rocket core itself, in RTL: for bare-metal programs."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from rackwright import _engine
from rackwright.errors import RackwrightError
from rackwright.hardware.rocket_verilog import rocket_verilog
from rackwright.hardware.toolchain import toolchain

if TYPE_CHECKING:
    from rackwright.machine.parameters import ServerParameters

ROCKET_RTL = "rocket-rtl"
"""The name of the core among the models."""

MODEL = "rocket"
"""The model of the same core."""

MOST_HARTS = 4
"""The maximum number of harts of the designs."""


def check_rocket_rtl(harts: int, timing: ServerParameters) -> None:
    """Raises `RackwrightError` for parameters that the RTL cannot have."""
    if harts > MOST_HARTS:
        raise RackwrightError(f"{ROCKET_RTL} has 1 to {MOST_HARTS} harts, not {harts}")
    if timing.core:
        raise RackwrightError(f"{ROCKET_RTL} is as its RTL is: {', '.join(sorted(timing.core))} can't be set")


@cache
def rocket_design(harts: int) -> _engine.RocketDesign:
    """The compiled cores for so many harts.

    The first time on a machine, compiling one core takes about half a minute, and four several minutes.
    """
    return _engine.RocketDesign(toolchain(), str(rocket_verilog()), harts)
