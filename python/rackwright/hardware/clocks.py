"""The clock of a unit: that supported by synthesis, at most 2 GHz, or that requested by the user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from rackwright.errors import RackwrightError
from rackwright.hardware.manifests import main_clock, read_manifest
from rackwright.synthesis.table import known_clock

LIMIT_HZ = 2_000_000_000
"""The clock of the server core beside the units: no unit runs faster unless requested."""


class ClockSource(StrEnum):
    """Why a unit runs at its clock: `assumed` is for RTL that has not been synthesised."""

    synthesised = "synthesised"
    asked = "asked"
    limit = "limit"
    assumed = "assumed"


@dataclass(frozen=True)
class UnitClock:
    """A clock in hertz and why it is the one."""

    hertz: int
    source: ClockSource


def parse_clock(text: str) -> int | None:
    """The value of --clock: hertz, or None for `synthesised`. Raises `RackwrightError` for anything else."""
    if text == ClockSource.synthesised:
        return None
    try:
        hertz = float(text)
    except ValueError:
        hertz = 0.0
    if not 1 <= hertz <= 1e12 or hertz != int(hertz):
        raise RackwrightError(f"--clock: {text} is neither a frequency in hertz nor `synthesised`")
    return int(hertz)


def clock_of(
    manifest: Path, asked: str | None = None, parameters: Mapping[str, int | str] | None = None
) -> UnitClock:
    """The clock of the unit of a manifest.

    Without `asked`, it is the lower of the clock supported by synthesis and `LIMIT_HZ`; RTL without synthesis
    is assumed to reach the clock that its manifest declares. `asked` is hertz, or "synthesised": the clock
    supported by synthesis without the limit, with a synthesis run if necessary. `parameters` are those of a
    user's top module.
    """
    record = read_manifest(manifest)
    if asked is not None:
        hertz = parse_clock(asked)
        if hertz is not None:
            return UnitClock(hertz, ClockSource.asked)
        from rackwright.synthesis.clock import synthesised_clock

        return UnitClock(synthesised_clock(manifest, parameters), ClockSource.synthesised)
    found = known_clock(record.get("hash", ""))
    if found is None:
        return UnitClock(int(main_clock(record)["hertz"]), ClockSource.assumed)
    if found < LIMIT_HZ:
        return UnitClock(found, ClockSource.synthesised)
    return UnitClock(LIMIT_HZ, ClockSource.limit)
