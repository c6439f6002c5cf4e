"""The units beside the harts of a server, from their descriptions to compiled designs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from bootstrap.jobs import side_by_side
from rackwright import _engine
from rackwright.errors import RackwrightError
from rackwright.hardware.clocks import clock_of
from rackwright.hardware.designs import ParameterValue, always_asserted, design, elaborate, manifest_of
from rackwright.hardware.headers import server_header
from rackwright.unit.config import SETS, UnitConfig
from rackwright.verilog.moved import moved_manifest
from rackwright.verilog.translated import queued_manifest, translated_manifest

Accelerator = str | Path | UnitConfig | _engine.Design
"""A unit: a name, set or manifest with default settings, a value, or a compiled design near the core."""


class PlacedUnit(NamedTuple):
    """A compiled unit and its placement, as passed to the engine."""

    design: _engine.Design
    placement: str


def build_units(
    accelerators: Sequence[Accelerator], *, waves: Path | None = None, translation: bool = False
) -> list[PlacedUnit]:
    """The units of a server: elaborates and compiles missing designs, in parallel.

    With `translation`, units that receive instructions from harts translate virtual addresses: a user's unit
    is wrapped with translation. Raises `RackwrightError` for unknown units, and for settings, which only
    commands can set.
    """
    wanted = [member for each in accelerators for member in _members(each)]

    def build(one: UnitConfig | _engine.Design) -> PlacedUnit:
        if isinstance(one, _engine.Design):
            return PlacedUnit(one, "near-core")
        manifest = unit_manifest(one, translation=translation)
        own = None if one.is_named else one.parameters
        clock = clock_of(manifest, one.clock, own)
        if own is not None:
            manifest, own = _attached(manifest, own, one.command, translation=translation)
        elif always_asserted(one.unit) and not translation:
            manifest = unit_manifest(one, assertions=True)
        built = design(
            manifest,
            own,
            waves=waves,
            clock_hz=clock.hertz,
            plusargs=one.plusargs,
        )
        return PlacedUnit(built, one.placement)

    return side_by_side(build, wanted)


def _attached(
    manifest: Path, parameters: Mapping[str, ParameterValue], command: str, *, translation: bool
) -> tuple[Path, Mapping[str, ParameterValue] | None]:
    """A user's unit with what it needs beside a core or on a tile, and parameters that remain to be set."""
    if command == "queue":
        return queued_manifest(manifest, parameters), None
    moved = moved_manifest(manifest, parameters)
    if moved != manifest:
        return moved, None
    if translation:
        return translated_manifest(manifest, parameters), None
    return manifest, parameters


def header_of_units(units: Sequence[UnitConfig]) -> str:
    """The C header of programs that reach these units of a server; raises like `build_units`."""
    return server_header([server_manifest(unit) for unit in units])


def server_manifest(config: UnitConfig) -> Path:
    """The manifest of a unit as programs of a server reach it: with the registers of a mover, if it has one.

    Raises like `build_units`.
    """
    manifest = unit_manifest(config)
    return manifest if config.is_named else moved_manifest(manifest, config.parameters)


def unit_manifest(config: UnitConfig, *, translation: bool = False, assertions: bool = False) -> Path:
    """The manifest of a unit, elaborated if necessary as in `Elaboration`; raises like `build_units`."""
    if config.settings:
        raise RackwrightError(
            f"{config.unit}: {', '.join(config.settings)} is set by commands, which its user gives"
        )
    if not config.is_named and config.command != "rocc" and (translation or config.command != "queue"):
        raise RackwrightError(
            f"{config.unit}: is already elaborated; the way in which it takes commands is fixed"
        )
    try:
        if config.is_named:
            translated = translation and config.command in ("rocc", "queue")
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
