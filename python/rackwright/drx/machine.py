"""Where programs run: the exact model, and the unit in RTL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rackwright import _engine
from rackwright.clocks import clock_of
from rackwright.commands import STATUS_NAMES, operate
from rackwright.designs import ParameterValue, elaborate
from rackwright.drx.configuration import Configuration
from rackwright.drx.isa import isa
from rackwright.drx.program import Program
from rackwright.unit import Unit
from rackwright.unit_config import UnitConfig

UNIT = "drx"

STALLS = ("dependency", "bank", "transfer")
"""What the unit waits for, beside instructions: results of earlier chunks, banks, loads and stores."""

LIMIT = 1 << 32
"""Cycles of the unit, or instructions of the model, after which a program is stopped."""


@dataclass(frozen=True)
class Ended:
    """How a program ended: its status by name, the instruction that it was at, and what it stored.

    `cycles`, `stalls` (those by what is waited for), `digest` and `clock_hz` with its source are of the RTL,
    `obeyed` are instructions of the model; each is None for the other.
    """

    output: bytes
    status: str
    index: int
    output_bytes: int
    cycles: int | None = None
    stalls: Mapping[str, int] | None = None
    clock_hz: int | None = None
    clock_source: str | None = None
    digest: str | None = None
    obeyed: int | None = None


def run_model(
    program: Program,
    inputs: Sequence[bytes],
    output_bytes: int,
    configuration: Configuration | None = None,
    limit: int = LIMIT,
) -> Ended:
    """Runs a program in the model, which gives the bytes and the status of the RTL, and no cycles."""
    shape = configuration or Configuration()
    output, status, index, stored, obeyed = _engine.run_drx(
        program.words,
        list(inputs),
        output_bytes,
        lanes=shape.lanes,
        scratchpad=shape.scratchpad_bytes,
        instructions=shape.instructions,
        loops=shape.loop_depth,
        limit=limit,
    )
    return Ended(output, STATUS_NAMES[status], index, stored, obeyed=obeyed)


class DrxUnit:
    """The unit in RTL, with a memory of its own; runs one program after the other."""

    def __init__(
        self,
        parameters: Mapping[str, ParameterValue] | None = None,
        *,
        assertions: bool = False,
        memory: Mapping[str, int] | None = None,
    ) -> None:
        """Elaborates and compiles it where that has not been done; the arguments are those of `Unit`."""
        self.parameters = dict(parameters or {})
        self.configuration = Configuration.of(self.parameters)
        self.unit = Unit(UnitConfig(UNIT, self.parameters), assertions=assertions, memory=memory)

    def run(
        self, program: Program | bytes, inputs: Sequence[bytes], output_bytes: int, limit: int = LIMIT
    ) -> Ended:
        """Runs a program over inputs that are in memory, and not in caches."""
        unit = self.unit
        unit.release_all()
        words = program if isinstance(program, bytes) else program.to_bytes()
        code, target = unit.load(words), unit.load(bytes(output_bytes), "w")
        for number in range(1, isa().regions):
            buffer = unit.load(inputs[number - 1]) if number <= len(inputs) else None
            unit.command(f"input{number}_address", buffer.address if buffer else 0)
            unit.command(f"input{number}_bytes", buffer.length if buffer else 0)
        unit.command("cycle_limit", limit)
        begin, before = unit.cycle, self._stalls()
        ended = operate(unit, code, target)
        clock = clock_of(elaborate(UNIT, self.parameters))
        return Ended(
            unit.read(target),
            ended.status,
            ended.input_offset,
            ended.output_bytes,
            cycles=unit.cycle - begin,
            stalls={name: count - before[name] for name, count in self._stalls().items()},
            clock_hz=clock.hertz,
            clock_source=clock.source,
            digest=unit.digest,
        )

    def _stalls(self) -> dict[str, int]:
        events = self.unit.bench.events()
        return {name: events[f"{name}_stall"] for name in STALLS}
