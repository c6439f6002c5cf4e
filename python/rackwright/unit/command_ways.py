"""Transport of commands to a unit alone: as instructions of a hart, or through its registers."""

from __future__ import annotations

from typing import Protocol

from rackwright import _engine
from rackwright.hardware.registers import register_map

_REGISTERS = register_map("adapter")


class CommandWay(Protocol):
    """Sends commands; `opcode` is the n of custom-n."""

    def command(self, opcode: int, funct: int, rs1: int, rs2: int) -> None:
        """One that has no answer."""

    def query(self, opcode: int, funct: int, rs1: int, rs2: int, max_cycles: int) -> int:
        """One with an answer, for at most `max_cycles` (0: no limit); raises `EngineError` without."""


class Instructions:
    """Commands in the format of a hart."""

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
        self._send(rs1, rs2, _REGISTERS["command"].word(opcode=opcode, funct=funct))

    def query(self, opcode: int, funct: int, rs1: int, rs2: int, max_cycles: int) -> int:
        """The engine limits the wait, independent of `max_cycles`."""
        self._send(rs1, rs2, _REGISTERS["command"].word(opcode=opcode, funct=funct, answers=1))
        return self._bench.register_read(_REGISTERS["result"].offset)

    def _send(self, rs1: int, rs2: int, command: int) -> None:
        for name, value in (("rs1", rs1), ("rs2", rs2), ("command", command)):
            self._bench.register_write(_REGISTERS[name].offset, value)
