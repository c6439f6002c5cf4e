"""A unit on a card, with the host's software that calls it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from rackwright import _engine
from rackwright.errors import RackwrightError
from rackwright.hardware.registers import register_map
from rackwright.unit import commands

_REGISTERS = register_map("adapter")
_RECORD, _FLAG = 0x0040_0000, 0x0040_0040
_SOURCE, _TARGET = 0x0400_0000, 0x0800_0000
MOST_INPUT_BYTES, MOST_OUTPUT_BYTES = _TARGET - _SOURCE, 0x1000_0000 - _TARGET
"""The buffer sizes in the host's memory."""


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

    def __init__(self, fabric: _engine.Fabric, card: int, design: _engine.Design) -> None:
        self._fabric, self._card = fabric, card
        self._functs = dict(design.commands)
        self._opcode = design.opcodes[0]
        self._settings: list[tuple[int, int]] = []

    def set(self, command: str, argument: int) -> None:
        """Adds a command with one argument to the next call."""
        self._settings += self._command(command, argument, 0)

    def run(self, data: bytes, capacity: int, *, warm: bool = True) -> CardCall:
        """One operation on `data`, with room for `capacity` bytes.

        `warm`: the host's last-level cache holds the data before. Raises `RackwrightError` for more than its
        memory has room for, `EngineError` when the unit does not end.
        """
        if len(data) > MOST_INPUT_BYTES or capacity > MOST_OUTPUT_BYTES:
            raise RackwrightError(
                f"the host has room for {MOST_INPUT_BYTES} bytes of input and {MOST_OUTPUT_BYTES} of output, "
                f"not for {len(data)} and {capacity}"
            )
        self._fabric.write_memory(_RECORD, bytes(_FLAG + 8 - _RECORD))
        self._fabric.write_memory(_SOURCE, data, warm)
        writes = [
            *self._settings,
            *self._command(commands.SRC, _SOURCE, len(data)),
            *self._command(commands.LIMIT, capacity, _RECORD),
            *self._command(commands.DEST_AND_START, _TARGET, _FLAG),
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
            self._fabric.read_memory(_TARGET, min(written, capacity)),
        )

    def _command(self, name: str, rs1: int, rs2: int) -> list[tuple[int, int]]:
        if name not in self._functs:
            raise RackwrightError(f"the unit has no command {name}; there are {', '.join(self._functs)}")
        word = _REGISTERS["command"].word(opcode=self._opcode, funct=self._functs[name])
        values = {"rs1": rs1, "rs2": rs2, "command": word}
        return [(_REGISTERS[register].offset, value) for register, value in values.items()]

    def _word(self, address: int) -> int:
        return int.from_bytes(self._fabric.read_memory(address, 8), "little")
