"""What guests of experiments have in common."""

from __future__ import annotations

from rackwright.parameters import ServerParameters

PAPERS_TIME = ServerParameters({"tick-cycles": 2000})
"""The tick of time of guests in the papers' machines: 1 us (Rocket Chip, `DTSTimebase`)."""

OFFSET_SECONDS = 0.00031
"""By how much later guests begin their work with each further seed: no multiple of a kernel's tick."""


def later(seconds: float, seed: int) -> str:
    """What a shell is told to wait for that long, and a little longer with each further seed."""
    waits = seconds + seed * OFFSET_SECONDS
    return f"sleep {waits:g}; " if waits else ""
