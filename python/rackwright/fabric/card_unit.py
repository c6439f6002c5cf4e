"""A unit on a card, with the host's software that calls it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rackwright import _engine
from rackwright.errors import RackwrightError
from rackwright.hardware.registers import register_map
from rackwright.unit import commands

_REGISTERS = register_map("adapter")
_RECORD, _FLAG = 0x0040_0000, 0x0040_0040
_SOURCE, _TARGET = 0x0400_0000, 0x0800_0000
MOST_INPUT_BYTES, MOST_OUTPUT_BYTES = _TARGET - _SOURCE, 0x1000_0000 - _TARGET
"""The buffer sizes in the host's memory."""

Place = Literal["host", "card"]
"""Whose memory a buffer is in."""


@dataclass(frozen=True)
class CardCall:
    """One operation of a unit on a card.

    `nanoseconds` run from the host's first write of a register until the completion flag is in its memory.
    The card has made `reads` that were completed; `parts` is the mean time of one outside of the card, in
    nanoseconds by component.
    """

    nanoseconds: float
    reads: int
    parts: Mapping[str, float]
    status: str
    input_offset: int
    output: bytes = field(repr=False)


class CardUnit:
    """A unit on a card of a fabric, created by `Fabric.unit`."""

    def __init__(
        self, fabric: _engine.Fabric, card: int, design: _engine.Design, memory: tuple[int, int] | None = None
    ) -> None:
        """`memory` is the address and the size of the card's own."""
        self._fabric, self._card, self._memory = fabric, card, memory
        self._functs = dict(design.commands)
        self._opcode = design.opcodes[0]
        self._settings: list[tuple[int, int]] = []

    def set(self, command: str, argument: int) -> None:
        """Adds a command with one argument to the next call."""
        self._settings += self._command(command, argument, 0)

    def run(
        self,
        data: bytes,
        capacity: int,
        *,
        warm: bool = True,
        source: Place = "host",
        target: Place = "host",
    ) -> CardCall:
        """One operation on `data`, with room for `capacity` bytes, in the memory of the host or the card.

        `warm`: the host's last-level cache holds the data before. Raises `RackwrightError` for more than a
        memory has room for, and for a card without memory, `EngineError` when the unit does not end.
        """
        (begin, room), (to, most) = self._buffers(source)[0], self._buffers(target)[1]
        if len(data) > room or capacity > most:
            raise RackwrightError(
                f"the {source} has room for {room} bytes of input and the {target} for {most} of output, "
                f"not for {len(data)} and {capacity}"
            )
        self._fabric.write_memory(_RECORD, bytes(_FLAG + 8 - _RECORD))
        self._fabric.write_memory(begin, data, warm)
        writes = [
            *self._settings,
            *self._command(commands.SRC, begin, len(data)),
            *self._command(commands.LIMIT, capacity, _RECORD),
            *self._command(commands.DEST_AND_START, to, _FLAG),
        ]
        self._settings = []
        called = json.loads(self._fabric.call(self._card, writes, _FLAG))
        status = self._word(_FLAG) - 1
        written = self._word(_RECORD) >> 8
        return CardCall(
            called["nanoseconds"],
            called["reads"],
            called["parts"],
            commands.STATUS_NAMES[status],
            self._word(_RECORD + 8),
            self._fabric.read_memory(to, min(written, capacity)),
        )

    def _buffers(self, place: Place) -> tuple[tuple[int, int], tuple[int, int]]:
        """Address and size of the buffers for input and output in a memory; of a card's, the two halves."""
        if place == "host":
            return (_SOURCE, MOST_INPUT_BYTES), (_TARGET, MOST_OUTPUT_BYTES)
        if self._memory is None:
            raise RackwrightError("the card has no memory: `memory` of `Card` is its size")
        first, half = self._memory[0], self._memory[1] // 2
        return (first, half), (first + half, half)

    def _command(self, name: str, rs1: int, rs2: int) -> list[tuple[int, int]]:
        if name not in self._functs:
            raise RackwrightError(f"the unit has no command {name}; there are {', '.join(self._functs)}")
        word = _REGISTERS["command"].word(opcode=self._opcode, funct=self._functs[name])
        values = {"rs1": rs1, "rs2": rs2, "command": word}
        return [(_REGISTERS[register].offset, value) for register, value in values.items()]

    def _word(self, address: int) -> int:
        return int.from_bytes(self._fabric.read_memory(address, 8), "little")
