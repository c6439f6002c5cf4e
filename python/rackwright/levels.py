"""Levels of compression units: named presets over their parameters, as the official libraries have levels."""

from __future__ import annotations

from collections.abc import Mapping

from rackwright.designs import ParameterValue
from rackwright.errors import RackwrightError

USUAL_LEVEL = 2
"""The units as they are built by default."""

LEVELS: Mapping[str, Mapping[int, Mapping[str, int]]] = {
    "zstd-compress": {
        1: {"block-kib": 32, "hash-log2": 10, "hash-ways": 1, "hash-banks": 16, "history-kib": 8},
        USUAL_LEVEL: {},
        3: {"block-kib": 64, "hash-ways": 4},
    },
    "deflate-compress": {
        1: {"block-kib": 8, "hash-log2": 10, "hash-ways": 1, "hash-banks": 8, "history-kib": 8},
        USUAL_LEVEL: {},
        3: {"hash-ways": 4},
    },
}
"""By unit and level: the parameters of elaboration that differ from the defaults.

Level 1 has the least memory on chip, level 3 looks at the most candidates for a match. docs/units.md has
their ratios and speeds.
"""


def level_parameters(unit: str, level: int) -> dict[str, ParameterValue]:
    """The parameters that `level` of `unit` stands for; raises `RackwrightError` if it has no such level."""
    levels = LEVELS.get(unit)
    if levels is None:
        raise RackwrightError(f"{unit} has no levels; {' and '.join(LEVELS)} have")
    if level not in levels:
        raise RackwrightError(f"{unit} has levels {min(levels)} to {max(levels)}, not {level}")
    return {**levels[level]}
