"""What identifies a compiled design and the engine that runs it, and what synthesis found for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from bootstrap.paths import STAMPS
from rackwright.clocks import clock_of
from rackwright.designs import ParameterValue, design, elaborate
from rackwright.exploration.store import content_key
from rackwright.synthesis.table import read_table


@dataclass(frozen=True)
class BuiltDesign:
    """A compiled design: the key of its Verilog, manifest, clock and engine; its area, where it is known."""

    key: str
    area_mm2: float | None


def build_design(unit: str, parameters: Mapping[str, ParameterValue]) -> BuiltDesign:
    """Compiles a unit, if that has not been done; the area is that of the committed table of synthesis."""
    manifest = elaborate(unit, parameters)
    design(manifest)
    files = sorted(path for path in manifest.parent.iterdir() if path.suffix in (".json", ".sv", ".v"))
    stamp = STAMPS / "engine"
    engine = stamp.read_text(encoding="ascii") if stamp.exists() else ""
    contents = (part for path in files for part in (path.name, path.read_text(encoding="utf-8")))
    row = read_table().get(json.loads(manifest.read_text(encoding="utf-8"))["hash"])
    hertz = str(clock_of(manifest).hertz)
    return BuiltDesign(content_key(engine, hertz, *contents), None if row is None else row.area_mm2)
