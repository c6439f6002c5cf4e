"""The Rocket core itself, as RTL: bare-metal programs only, for validation."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path

from rackwright import _engine
from rackwright.errors import MissingBuildError
from rackwright.server import RunResult
from rackwright.toolchain import toolchain

_PACKAGE = "pythondata_cpu_rocket"


@cache
def _design() -> _engine.RocketDesign:
    """The compiled core; the first time on a machine this takes about half a minute."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise MissingBuildError("the Python package pythondata-cpu-rocket")
    return _engine.RocketDesign(toolchain(), str(Path(spec.origin).parent / "verilog"))


def run_rocket_rtl(program: Path, max_cycles: int = 0) -> RunResult:
    """Runs a bare-metal program on the Verilated Rocket core.

    `max_cycles` ends a run that takes longer with an `EngineError` (0: no limit). The clock is that
    of the timing models, 2 GHz, so that results can be compared.
    """
    result = _design().run(str(program), max_cycles)
    return RunResult(
        exit_code=result.exit_code,
        instructions=result.instructions,
        cycles=result.cycles,
        clock_hz=2_000_000_000,
        digest=result.digest,
        wall_seconds=result.wall_seconds,
        cpu="rocket-rtl",
        accelerators=(),
        stdout=result.stdout,
        stderr=b"",
        unit_cycles=0,
        counters={},
    )
