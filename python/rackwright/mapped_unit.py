"""A unit whose commands come through registers instead of RoCC instructions, for cores without them."""

from __future__ import annotations

from rackwright.unit import Unit

# The register map of the command queue: hardware/src/main/scala/rackwright/rocc/README.md.
_RS1, _RS2, _COMMAND, _RESULT = 0x00, 0x08, 0x10, 0x18
_OPCODE_SHIFT = 7
_WANTS_ANSWER = 1 << 9


class MappedUnit(Unit):
    """A `Unit` that was elaborated with `command="mmio"`: the same commands, given by register accesses."""

    def command(self, command: str | int, rs1: int = 0, rs2: int = 0, *, opcode: int | None = None) -> None:
        """Writes the operands, then the command; waits until the unit has taken it."""
        self._send(command, rs1, rs2, self._opcode(opcode) << _OPCODE_SHIFT)

    def query(
        self,
        command: str | int,
        rs1: int = 0,
        rs2: int = 0,
        *,
        opcode: int | None = None,
        max_cycles: int = 0,
    ) -> int:
        """Gives a command and reads its answer; the engine limits the wait, whatever `max_cycles` says."""
        self._send(command, rs1, rs2, self._opcode(opcode) << _OPCODE_SHIFT | _WANTS_ANSWER)
        return self.bench.register_read(_RESULT)

    def _send(self, command: str | int, rs1: int, rs2: int, extra: int) -> None:
        self.bench.register_write(_RS1, rs1)
        self.bench.register_write(_RS2, rs2)
        self.bench.register_write(_COMMAND, self._funct(command) | extra)
