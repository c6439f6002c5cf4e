"""The Rocket core itself, as RTL: bare-metal programs only, for validation."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from rackwright import _engine
from rackwright.errors import RackwrightError
from rackwright.parameters import ServerParameters
from rackwright.rocket_verilog import rocket_verilog
from rackwright.server import RunResult
from rackwright.toolchain import toolchain


@cache
def _design() -> _engine.RocketDesign:
    """The compiled core; the first time on a machine this takes about half a minute."""
    return _engine.RocketDesign(toolchain(), str(rocket_verilog()))


def run_rocket_rtl(
    program: Path, max_cycles: int = 0, echo: bool = False, timing: ServerParameters | None = None
) -> RunResult:
    """Runs a bare-metal program on the Verilated Rocket core.

    `max_cycles` ends a run that takes longer with an `EngineError` (0: no limit). `echo` prints the program's
    output as it appears. `timing` has the clock and numbers of L2 and the memory behind it that replace the
    defaults; those of the core are in its RTL.
    """
    timing = timing or ServerParameters()
    if timing.core:
        raise RackwrightError(f"rocket-rtl is as its RTL is: {', '.join(sorted(timing.core))} can't be set")
    result = _design().run(str(program), max_cycles, echo, timing.memory)
    return RunResult(
        exit_code=result.exit_code,
        instructions=result.instructions,
        cycles=result.cycles,
        clock_hz=result.clock_hz,
        digest=result.digest,
        wall_seconds=result.wall_seconds,
        cpu="rocket-rtl",
        harts=1,
        accelerators=(),
        unit_clocks_hz=(),
        timing=timing.describe(),
        stdout=result.stdout,
        stderr=b"",
        waves=None,
        unknown_calls=(),
        unit_cycles=0,
        counters={},
    )
