"""The area of a user's own design."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rackwright.hardware.designs import ParameterValue
from rackwright.synthesis.figures import figures
from rackwright.synthesis.flow import read_design, synthesise
from rackwright.synthesis.library import load_library
from rackwright.synthesis.process import load_process


def own_area_mm2(manifest: Path, parameters: Mapping[str, ParameterValue]) -> float:
    """The estimate of synthesis for the design with these parameters; mapped pieces are cached."""
    library, process = load_library(), load_process()
    found = synthesise(read_design(manifest, parameters), library, process, paths=1)
    return figures(found, library, process).area_mm2
