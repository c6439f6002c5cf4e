"""The identity of a compiled design and the engine, and its synthesis results."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bootstrap.paths import STAMPS
from rackwright._engine import Design
from rackwright.exploration.store import content_key
from rackwright.hardware.clocks import clock_of
from rackwright.hardware.designs import always_asserted, design, elaborate
from rackwright.synthesis.area import own_area_mm2
from rackwright.synthesis.table import row_of_manifest
from rackwright.unit.config import UnitConfig


@dataclass(frozen=True)
class BuiltDesign:
    """A compiled design: the key of its Verilog, manifest, clock and engine; its area, if known."""

    key: str
    area_mm2: float | None


def build_design(config: UnitConfig, *, synthesise: bool = False) -> BuiltDesign:
    """Compiles a unit, if that has not been done.

    The area of our units comes from the committed table of synthesis, that of a user's unit from synthesis,
    if `synthesise` requests it.
    """
    if not config.is_named:
        return _own(config, synthesise)
    manifest = elaborate(config.unit, config.parameters)
    is_asserted = always_asserted(config.unit)
    design(elaborate(config.unit, config.parameters, assertions=True) if is_asserted else manifest)
    files = sorted(path for path in manifest.parent.iterdir() if path.suffix in (".json", ".sv", ".v"))
    contents = (part for path in files for part in (path.name, path.read_text(encoding="utf-8")))
    row = row_of_manifest(manifest)
    hertz = str(clock_of(manifest).hertz)
    return BuiltDesign(content_key(_engine(), hertz, *contents), None if row is None else row.area_mm2)


def model_design(model: Design) -> BuiltDesign:
    """An exact model, which is part of the engine."""
    parameters = (f"{name}={value}" for name, value in sorted(model.parameters.items()))
    return BuiltDesign(content_key(_engine(), model.unit, str(model.clock_hz), *parameters), None)


def _own(config: UnitConfig, synthesise: bool) -> BuiltDesign:
    manifest = Path(config.unit)
    built = design(manifest, config.parameters)
    area = own_area_mm2(manifest, config.parameters) if synthesise else None
    hertz = str(clock_of(manifest, config.clock, config.parameters).hertz)
    parts = (_engine(), hertz, built.key, manifest.read_text(encoding="utf-8"))
    return BuiltDesign(content_key(*parts), area)


def _engine() -> str:
    """A hash of the engine's sources; empty if they are unknown."""
    stamp = STAMPS / "engine"
    return stamp.read_text(encoding="ascii") if stamp.exists() else ""
