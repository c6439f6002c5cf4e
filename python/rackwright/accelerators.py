"""The units that stand beside the harts of a server, from what they are to be to compiled designs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bootstrap.jobs import side_by_side
from rackwright import _engine
from rackwright.clocks import clock_of
from rackwright.designs import design, elaborate, manifest_of
from rackwright.errors import RackwrightError
from rackwright.unit_config import SETS, UnitConfig
from rackwright.verilog.translated import translated_manifest

Accelerator = str | Path | UnitConfig | _engine.Design
"""A unit by name, set or manifest as it is by default, one as a value, or a compiled design near the core."""


class PlacedUnit(NamedTuple):
    """A compiled unit and where it sits, as the engine takes it."""

    design: _engine.Design
    placement: str


def build_units(
    accelerators: Sequence[Accelerator], *, waves: bool = False, translation: bool = False
) -> list[PlacedUnit]:
    """The units of a server: elaborates and compiles what is not compiled yet, side by side.

    With `translation`, those that take instructions of harts translate virtual addresses: a user's unit is
    put into what translates for it. Raises `RackwrightError` for what there is not, and for settings, which
    commands set.
    """
    wanted = [member for each in accelerators for member in _members(each)]

    def build(one: UnitConfig | _engine.Design) -> PlacedUnit:
        if isinstance(one, _engine.Design):
            return PlacedUnit(one, "near-core")
        manifest = unit_manifest(one, translation=translation)
        own = None if one.is_named else one.parameters
        clock = clock_of(manifest, one.clock, own)
        if own is not None and translation:
            manifest, own = translated_manifest(manifest, own), None
        built = design(
            manifest,
            own,
            waves=waves,
            clock_hz=clock.hertz,
            plusargs=one.plusargs,
        )
        return PlacedUnit(built, one.placement)

    return side_by_side(build, wanted)


def unit_manifest(config: UnitConfig, *, translation: bool = False, assertions: bool = False) -> Path:
    """The manifest of a unit, elaborated if it was not, as `Elaboration` says; raises as `build_units`."""
    if config.settings:
        raise RackwrightError(
            f"{config.unit}: {', '.join(config.settings)} is set by commands, which its user gives"
        )
    if not config.is_named and config.command != "rocc":
        raise RackwrightError(f"{config.unit}: is elaborated already, and takes commands as it does")
    try:
        if config.is_named:
            translated = translation and config.command == "rocc"
            return elaborate(
                config.unit,
                config.parameters,
                command=config.command,
                translation=translated,
                assertions=assertions,
            )
        return manifest_of(config.unit, config.parameters, assertions)
    except RackwrightError as error:
        if not str(error).startswith("no unit is named"):
            raise
        raise RackwrightError(f"{error}; and the sets {', '.join(SETS)}") from error


def _members(accelerator: Accelerator) -> Sequence[UnitConfig | _engine.Design]:
    if isinstance(accelerator, _engine.Design):
        return [accelerator]
    config = accelerator if isinstance(accelerator, UnitConfig) else UnitConfig(str(accelerator))
    return config.members()
