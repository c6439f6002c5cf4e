"""What guests of experiments have in common."""

from __future__ import annotations

from rackwright.parameters import ServerParameters

PAPERS_TIME = ServerParameters({"tick-cycles": 2000})
"""The tick of time of guests in the papers' machines: 1 us (Rocket Chip, `DTSTimebase`)."""
