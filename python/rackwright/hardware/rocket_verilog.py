"""The path of the Rocket core's Verilog, in the Python package that contains it."""

from __future__ import annotations

from pathlib import Path

from bootstrap.paths import ROCKET
from rackwright.errors import MissingBuildError


def rocket_verilog() -> Path:
    """The folder of the Verilog. Raises `MissingBuildError` when it has not been fetched."""
    folder = ROCKET / "pythondata_cpu_rocket" / "verilog"
    if not folder.is_dir():
        raise MissingBuildError("the Rocket core in RTL", "./rw run --cpu rocket-rtl")
    return folder
