"""The Rocket core itself, as RTL: bare-metal programs only, for validation."""

from __future__ import annotations

from pathlib import Path

from rackwright.errors import RackwrightError
from rackwright.server import RunResult


def run_rocket_rtl(program: Path, max_cycles: int = 0) -> RunResult:
    """Runs a bare-metal program on the Verilated Rocket core."""
    raise RackwrightError("rocket-rtl is not available yet")
