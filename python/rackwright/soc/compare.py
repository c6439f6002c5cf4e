"""The same program on the chip alone and beside the engine's models of its first hart and of memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from rackwright.errors import RackwrightError
from rackwright.machine.parameters import ServerParameters
from rackwright.machine.server import RunResult, Server
from rackwright.soc.value import Soc

_AT_ONCE = ("controller", "column", "activate", "precharge", "row-open", "write-to-read", "refresh")
"""Parts of the time of DRAM that the memory of the harness does not have."""

_L1_BUSY = {"modified": 8, "held": 4, "absent": 3}
"""Cycles for which Rocket's L1 is busy with a probe, by the state of the line.

It accepts the next probe after its response: after the tag look-up for an absent line, otherwise when the new
state is written, for a modified line after its beats have left (Rocket Chip 1.2.6, `DCache.scala`). The hub
of that package probes every L1 for every line. Measured by `examples/soc/states.c` (docs/soc.md), as are the
two below.
"""

_TO_HUB = 5
"""Cycles from a client of the bus through the hub to memory and back, without those of memory and probes."""

_MISS = {"miss-data-request": 0, "miss-data-response": 0, "miss-fetch-response": 2}
"""The remaining path of an L1 miss, as L1 is a client of the bus, too."""

_RELEASE = 10
"""Cycles by which a miss is later if a modified line has to leave first, without those of memory.

The line is read and sent in two beats (5); the hub answers when memory has it; the miss is tried again (5).
"""

_WAYS = 65_520
"""Where the chip's pseudo-random choices of ways begin in the sequence of the model's.

Both are shift registers of 16 bits with the taps 16, 14, 13, 11. `LFSR16` of Chisel 3.2 begins with its last
bit set, and its last two bits choose a way; `LFSR` of later versions, as in the model, begins with its first
bit set, and its first two bits choose. They are the last two 14 numbers later, exchanged. Thus the chip
chooses what the model chooses 15 of its 65,535 numbers earlier, with two ways exchanged, which changes no hit
and no miss.
"""

_BOOT_LINES = 1
"""Lines of the boot ROM in the instruction cache when a program begins."""

_PORT = {"port-request": 1, "port-response": 1, "port-patience": 4}
"""A memory port in addition to those of the models (`LinePort.scala`).

A request waits in a register and, as a read, in that of the next `Get`; a response waits in a register. The
models have one stage in each direction. A write of a line waits for its next beat until `patience` has
counted from 3 to 0, and is closed in the cycle after it.
"""

_OPERATION = re.compile(r"(.*\S) in (\d+) cycles")


@dataclass(frozen=True)
class Operation:
    """Measurements of a program, by name: cycles on the chip and on the models."""

    name: str
    cycles: int
    model_cycles: int

    @property
    def over_model(self) -> float:
        """The ratio of the chip's cycles to the model's."""
        return self.cycles / self.model_cycles


def operations(chip: str, model: str) -> Iterator[Operation]:
    """Pairs the lines `NAME in N cycles` of a program's output on both.

    A program with different control flow on one of them has lines that the other lacks; those are omitted.
    """
    of_model = {match[1]: int(match[2]) for match in _OPERATION.finditer(model)}
    for match in _OPERATION.finditer(chip):
        if of_model.get(match[1]):
            yield Operation(match[1], int(match[2]), of_model[match[1]])


def require_comparable(soc: Soc) -> None:
    """Raises `RackwrightError` for a chip in front of DRAM: the model would have an L2 between them."""
    if soc.dram:
        raise RackwrightError("--compare: needs memory with a fixed latency: `harness` without `dram`")


def run_modelled(soc: Soc, program: Path, max_cycles: int = 0) -> RunResult:
    """Runs a bare-metal program on the model `rocket` with the units of hart 0, all at the clock of the chip.

    Its memory is that of the harness: `memory_cycles` for every line, for any state of the caches. Its L1 is
    probed as the hub of the chip does. Units that harts share are beside it; those on the buses are left out.
    Raises `EngineError` if `max_cycles` (0: no limit) is reached first, and `RackwrightError` as
    `require_comparable` does.
    """
    require_comparable(soc)
    memory = {
        "clock-hz": soc.clock_hz,
        "l2-latency": soc.memory_cycles + _TO_HUB,
        # A line modified in an L1 is written to memory before the hub reads it from there.
        "coherence-unit": soc.memory_cycles,
        "llc-latency": 1,
        **{f"dram-{part}-ps": 0 for part in _AT_ONCE},
        "dram-burst-ps": 1,
        **_PORT,
        **{f"coherence-busy-{what}": cycles for what, cycles in _L1_BUSY.items()},
    }
    beside = (*soc.harts[0].units, *soc.shared)
    units = [replace(unit, clock=str(soc.clock_hz)) for unit in beside]
    core = {**_MISS, "miss-release": soc.memory_cycles + _RELEASE}
    core |= {"replaced-data": _WAYS, "replaced-instructions": _WAYS + _BOOT_LINES}
    return Server("rocket", units, timing=ServerParameters(memory, core)).run(program, max_cycles=max_cycles)
