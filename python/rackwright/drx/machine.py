"""Targets of programs: the exact model, and the unit in RTL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from rackwright.drx.configuration import Configuration, model_of
from rackwright.drx.isa import isa
from rackwright.drx.program import Program
from rackwright.hardware.clocks import ClockSource, UnitClock
from rackwright.hardware.designs import ParameterValue
from rackwright.unit.alone import Unit
from rackwright.unit.commands import operate
from rackwright.unit.config import UnitConfig

UNIT = "drx"

STALLS = ("dependency", "bank", "transfer")
"""Reasons for stalls: results of earlier chunks, banks, loads and stores."""

CLOCK = UnitClock(1_000_000_000, ClockSource.assumed)
"""The clock of the text's unit: RTL runs at it too, even where synthesis supports more, as the model does."""

LIMIT = 1 << 26
"""Cycles after which a program is stopped: some 50 times those of the largest kernel in `examples/drx/`."""


@dataclass(frozen=True)
class Ended:
    """The result of a program: its status by name, its last instruction, and the stored data.

    `cycles` are from its first command to the response that reports its end, `instructions` the executed
    ones, `stalls` cycles by reason.
    """

    output: bytes
    status: str
    index: int
    output_bytes: int
    cycles: int
    instructions: int
    stalls: Mapping[str, int]
    clock_hz: int
    clock_source: str
    digest: str


def run_model(
    program: Program,
    inputs: Sequence[bytes],
    output_bytes: int,
    configuration: Configuration | None = None,
    limit: int = LIMIT,
) -> Ended:
    """Runs a program in the exact model of a unit."""
    parameters = {name: str(value) for name, value in asdict(configuration or Configuration()).items()}
    return DrxUnit(parameters, model=True).run(program, inputs, output_bytes, limit)


class DrxUnit:
    """The unit in RTL, or its exact model, with a channel of DRAM; runs one program after the other."""

    def __init__(
        self,
        parameters: Mapping[str, ParameterValue] | None = None,
        *,
        model: bool = False,
        assertions: bool = False,
        own_memory: bool = True,
        memory: Mapping[str, int] | None = None,
    ) -> None:
        """Elaborates and compiles the unit if necessary, unless it is a `model`.

        Without `own_memory`, it is behind the caches of a server. `assertions` and `memory` as in `Unit`.
        """
        self.parameters = dict(parameters or {})
        self.configuration = Configuration.of(self.parameters)
        rtl = UnitConfig(UNIT, self.parameters, clock=str(CLOCK.hertz))
        unit = model_of(self.parameters) if model else rtl
        self.unit = Unit(unit, assertions=assertions, memory=memory, own_memory=own_memory)
        assert self.unit.design.clock_hz == CLOCK.hertz

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
        begin, before = unit.unit_cycle, unit.bench.events()
        ended = operate(unit, code, target)
        events = {name: count - before[name] for name, count in unit.bench.events().items()}
        return Ended(
            unit.read(target),
            ended.status,
            ended.input_offset,
            ended.output_bytes,
            cycles=unit.unit_cycle - begin,
            instructions=events["settings"] + events["steps"],
            stalls={name: events[f"{name}_stall"] for name in STALLS},
            clock_hz=CLOCK.hertz,
            clock_source=CLOCK.source,
            digest=unit.digest,
        )
