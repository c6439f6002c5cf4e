"""Common parts of experiments with guests."""

from __future__ import annotations

from rackwright.machine.parameters import ServerParameters

PAPERS_TIME = ServerParameters({"tick-cycles": 2000})
"""The tick of time of guests in the papers' machines: 1 us (Rocket Chip, `DTSTimebase`)."""

OFFSET_SECONDS = 0.00031
"""The additional delay of the guests' work for each further seed: not a multiple of a kernel's tick."""


def later(seconds: float, seed: int) -> str:
    """The shell's command that waits for that long, and slightly longer for each further seed."""
    waits = seconds + seed * OFFSET_SECONDS
    return f"sleep {waits:g}; " if waits else ""
