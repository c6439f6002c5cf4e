"""Where the Verilog of the Rocket core is: in the Python package that carries it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from rackwright.errors import MissingBuildError

_PACKAGE = "pythondata_cpu_rocket"


def rocket_verilog() -> Path:
    """The folder of the Verilog. Raises `MissingBuildError` when the package is not installed."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise MissingBuildError("the Python package pythondata-cpu-rocket")
    return Path(spec.origin).parent / "verilog"
