"""Programs of DRX, followed tile by tile: whose bytes each operation finds in the scratchpad."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np

from rackwright.drx import Compiled
from rackwright.drx.instruction import Instruction
from rackwright.drx.interleaving import Range, VectorInstruction
from rackwright.drx.nest import Result
from rackwright.drx.operations import Operations
from rackwright.drx.program import Builder
from rackwright.drx.schedule import Schedule
from rackwright.drx.tiling import Tiling
from rackwright.drx.vector import Operand, Place, VectorLoops

Owner = tuple[str, int]
"""An operation, or the buffer of an input, by its number in the nest."""

TURNS = 2
"""Of each loop: from the second one on, each finds in the scratchpad what the one before has left."""


@dataclass(frozen=True)
class Event:
    """An instruction: the bytes that it reads, whose they should be, and the bytes that it writes."""

    read: tuple[tuple[Range, Owner], ...]
    written: tuple[Range, Owner] | None


@dataclass
class Recorder:
    """Instructions of one nest, in place of which a program has numbered markers; and whose operands are."""

    tiling: Tiling
    events: list[Event] = field(default_factory=list)
    owners: dict[int, tuple[Place, Owner]] = field(default_factory=dict)
    plans: dict[int, tuple[VectorLoops, list[Owner | None]]] = field(default_factory=dict)

    def known(self, place: Place, owner: Owner) -> Place:
        """The same operand, whose owner is known from now on."""
        self.owners[id(place)] = place, owner
        return place

    def planned(self, plan: VectorLoops, operands: Sequence[Operand]) -> VectorLoops:
        """The same plan, whose operands are these."""
        self.plans[id(plan)] = plan, [self.owners.get(id(each), (None, None))[1] for each in operands]
        return plan

    def computes(self, builder: Builder, function: str, plan: VectorLoops) -> None:
        """Marks a vector instruction; one that adds to its destination also reads this."""
        instruction, (_, owners) = VectorInstruction(function, plan), self.plans[id(plan)]
        sources = [each for each in owners[0 if function == "multiply_add" else 1 :] if each is not None]
        assert owners[0] is not None
        reads = tuple(zip(instruction.read, sources, strict=True))
        self._mark(builder, Event(reads, (instruction.written, owners[0])))

    def moves(self, builder: Builder, place: int, address: int) -> None:
        """Marks the transfers of a buffer: the last one is that of the result."""
        if place < len(self.tiling.inputs):
            layout = self.tiling.inputs[place][0].layout
            self._mark(builder, Event((), ((address, address + layout.bytes), ("input", place))))
        else:
            layout, last = self.tiling.output.layout, len(self.tiling.nest.operations) - 1
            self._mark(builder, Event((((address, address + layout.bytes), ("operation", last)),), None))

    def _mark(self, builder: Builder, event: Event) -> None:
        """A transfer can end a loop, and has a number; there are no others."""
        builder.add("load", size=len(self.events))
        self.events.append(event)


def undisturbed(compiled: Compiled) -> None:
    """Each operation finds the results, and the elements of inputs, that it should read."""
    for tiling in compiled.tilings:
        owners: list[Owner] = [("nothing", 0)]
        held = np.full(compiled.configuration.scratchpad_bytes, 0, np.int32)
        marked, events = _marked(tiling, compiled.configuration.lanes)
        for number in _sequence(marked.program.instructions):
            event = events[number]
            for (first, last), owner in event.read:
                found = {owners[each] for each in set(held[first:last].tolist())}
                assert found == {owner}, f"{first:#x}: {found} for {owner}\n{tiling}"
            if event.written is not None:
                (first, last), owner = event.written
                if owner not in owners:
                    owners.append(owner)
                held[first:last] = owners.index(owner)


def _marked(tiling: Tiling, lanes: int) -> tuple[Builder, list[Event]]:
    """The program of a nest, as loops around numbers of instructions."""
    recorder, builder = Recorder(tiling), Builder()
    result, source, plan = Operations._result, Operations._input, Operations._plan

    def results(self: Operations, place: int, *arguments: Any) -> Place:
        return recorder.known(result(self, place, *arguments), ("operation", place))

    def inputs(self: Operations, access: Any, *arguments: Any) -> Place:
        members = (accesses for _, accesses in tiling.inputs)
        number = next(place for place, accesses in enumerate(members) if access in accesses)
        return recorder.known(source(self, access, *arguments), ("input", number))

    def operands(self: Operations, each: Any, *arguments: Any) -> Operand:
        found = operand(self, each, *arguments)
        if isinstance(each, Result) and isinstance(found, Place):
            return recorder.known(found, ("operation", each.operation))
        return found

    def plans(self: Operations, place: int, of: list[Operand], *arguments: Any) -> VectorLoops:
        return recorder.planned(plan(self, place, of, *arguments), of)

    operand = Operations._operand
    with (
        patch.object(Operations, "_result", results),
        patch.object(Operations, "_input", inputs),
        patch.object(Operations, "_operand", operands),
        patch.object(Operations, "_plan", plans),
        patch.object(Operations, "_vector", lambda _, to, __, name, of: recorder.computes(to, name, of)),
        patch.object(Schedule, "_transfer", lambda _, to, __, place, ___, at: recorder.moves(to, place, at)),
    ):
        Schedule(tiling, lanes).add_to(builder)
    return builder, recorder.events


def _sequence(instructions: Sequence[Instruction]) -> Iterator[int]:
    """The numbers of markers in the order of execution."""
    open_loops: list[list[int]] = []
    place = 0
    while place < len(instructions):
        instruction = instructions[place]
        place += 1
        if instruction.name == "loop":
            open_loops.append([place, min(instruction.values["value"], TURNS)])
        if instruction.name == "load":
            yield instruction.values["size"]
        for _ in range(instruction.values.get("ends", 0)):
            open_loops[-1][1] -= 1
            if open_loops[-1][1]:
                place = open_loops[-1][0]
                break
            open_loops.pop()
