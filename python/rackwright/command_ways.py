"""How commands get to a unit alone: as the instructions of a hart do, or through its registers."""

from __future__ import annotations

from typing import Protocol

from rackwright import _engine

# The register map of the command queue: hardware/src/main/scala/rackwright/adapter/README.md.
_RS1, _RS2, _COMMAND, _RESULT = 0x00, 0x08, 0x10, 0x18
_OPCODE_SHIFT = 7
_WANTS_ANSWER = 1 << 9


class CommandWay(Protocol):
    """Gives commands; `opcode` is the n of custom-n."""

    def command(self, opcode: int, funct: int, rs1: int, rs2: int) -> None:
        """One that has no answer."""

    def query(self, opcode: int, funct: int, rs1: int, rs2: int, max_cycles: int) -> int:
        """One with an answer, for at most `max_cycles` (0: no limit); raises `EngineError` without."""


class Instructions:
    """Commands as they leave a hart."""

    def __init__(self, bench: _engine.UnitBench) -> None:
        self._bench = bench

    def command(self, opcode: int, funct: int, rs1: int, rs2: int) -> None:
        """Leaves it to the unit when it takes it."""
        self._bench.command(opcode, funct, rs1, rs2)

    def query(self, opcode: int, funct: int, rs1: int, rs2: int, max_cycles: int) -> int:
        """Waits for the value of the register."""
        answer = self._bench.command(opcode, funct, rs1, rs2, xd=True, max_cycles=max_cycles)
        if answer is None:
            raise AssertionError("the engine gave no answer to a command that asks for one")
        return answer


class Registers:
    """The same by accesses to the registers of a unit that was elaborated with `command="mmio"`."""

    def __init__(self, bench: _engine.UnitBench) -> None:
        self._bench = bench

    def command(self, opcode: int, funct: int, rs1: int, rs2: int) -> None:
        """Waits until the unit has taken it."""
        self._send(rs1, rs2, opcode << _OPCODE_SHIFT | funct)

    def query(self, opcode: int, funct: int, rs1: int, rs2: int, max_cycles: int) -> int:
        """The engine limits the wait, whatever `max_cycles` says."""
        self._send(rs1, rs2, opcode << _OPCODE_SHIFT | funct | _WANTS_ANSWER)
        return self._bench.register_read(_RESULT)

    def _send(self, rs1: int, rs2: int, command: int) -> None:
        self._bench.register_write(_RS1, rs1)
        self._bench.register_write(_RS2, rs2)
        self._bench.register_write(_COMMAND, command)
