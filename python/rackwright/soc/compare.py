"""The same program on the chip alone and beside the engine's models of its first hart and of memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rackwright.parameters import ServerParameters
from rackwright.server import RunResult, Server
from rackwright.soc.value import Soc

_AT_ONCE = ("controller", "column", "activate", "precharge", "row-open", "write-to-read", "refresh")
"""Parts of the time of DRAM that the memory of the harness does not have."""


def run_modelled(soc: Soc, program: Path, max_cycles: int = 0) -> RunResult:
    """Runs a bare-metal program on the model `rocket` with the units of hart 0, all at the clock of the chip.

    Its memory is that of the harness: `memory_cycles` for every line, whatever cache it is in. Raises
    `EngineError` when `max_cycles` (0: no limit) come first.
    """
    memory = {
        "clock-hz": soc.clock_hz,
        "l2-latency": soc.memory_cycles,
        "llc-latency": 1,
        **{f"dram-{part}-ps": 0 for part in _AT_ONCE},
        "dram-burst-ps": 1,
    }
    units = [replace(unit, clock=str(soc.clock_hz)) for unit in soc.harts[0].units]
    return Server("rocket", units, timing=ServerParameters(memory)).run(program, max_cycles=max_cycles)
