"""A unit alone against the memory model: what `rw accelerate` and the tests of units use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from rackwright import _engine
from rackwright.errors import RackwrightError
from rackwright.hardware.designs import always_asserted, design
from rackwright.unit.accelerators import unit_manifest
from rackwright.unit.command_ways import CommandWay, Instructions, Registers
from rackwright.unit.config import UnitConfig

_PAGE = 4096
_FIRST_ADDRESS = 0x1000_0000
_GUEST_BYTES = 1 << 34


_Found = TypeVar("_Found")


@dataclass(frozen=True)
class Buffer:
    """A range of the memory model: `length` bytes from `address`."""

    address: int
    length: int


class Unit:
    """A compiled unit, its clock, and a memory of its own.

    Buffers come from `load` and `reserve`. Each is followed by an unmapped page, and every access
    outside the buffers is refused and counted in `violations`.
    """

    def __init__(
        self,
        unit: str | Path | UnitConfig | _engine.Design,
        *,
        skip_idle: bool = True,
        check_idle: bool = False,
        assertions: bool = False,
        waves: Path | None = None,
        memory: Mapping[str, int] | None = None,
        own_memory: bool = False,
    ) -> None:
        """Elaborates and compiles `unit` where that has not been done, and resets it.

        One that is named is near the core and as it is by default. `skip_idle` leaves out the cycles in
        which the unit says that it is idle; the results are the same without. `check_idle` clocks it always,
        and a unit that does something of its own while it says that it is idle ends in an `EngineError`.
        `waves` is an FST file to write, or a SAIF file for the activity. With `assertions`, those of the
        Chisel sources of a unit by name are compiled in, and one that fails ends in an `EngineError`, as one
        in your own Verilog always does.
        `memory` has numbers of caches and DRAM in the place of the default, by the names of
        `memory_parameters`. With `own_memory`, the default is a channel of DDR4-3200 without caches, and the
        unit runs at its own clock beside it.
        """
        if isinstance(unit, _engine.Design):
            self.design, self.placement = unit, "near-core"
        else:
            config = unit if isinstance(unit, UnitConfig) else UnitConfig(str(unit))
            asserted = assertions or (config.is_named and always_asserted(config.unit))
            manifest = unit_manifest(config, assertions=asserted)
            own = None if config.is_named else config.parameters
            self.design = design(manifest, own, waves=waves, plusargs=config.plusargs)
            self.placement = config.placement
        self.bench = _engine.UnitBench(
            self.design,
            self.placement,
            _GUEST_BYTES,
            skip_idle,
            str(waves) if waves else None,
            check_idle,
            memory or {},
            own_memory,
        )
        self._functs = dict(self.design.commands)
        self._registers = dict(self.design.registers)
        self._way: CommandWay = (Registers if self.design.has_registers else Instructions)(self.bench)
        self.bench.forbid_all()
        self._next = _FIRST_ADDRESS
        self._free: dict[str, int] = {}
        self._left: dict[str, list[bytes]] = {}
        self._rises: list[int] = []

    def reserve(self, length: int, access: str = "w", misalignment: int = 0) -> Buffer:
        """A new buffer of zeros that the unit may read ("r"), write ("w"), both ("rw") or not touch yet ("").

        It begins `misalignment` bytes after a page.
        """
        buffer = Buffer(self._next + misalignment, length)
        self._next = (buffer.address + length + 2 * _PAGE - 1) // _PAGE * _PAGE
        if access:
            self.bench.allow(buffer.address, length, access)
        return buffer

    def load(self, data: bytes | bytearray | memoryview, access: str = "r", misalignment: int = 0) -> Buffer:
        """A new buffer that holds `data`, as it is now."""
        data = memoryview(data).tobytes()
        buffer = self.reserve(len(data), access, misalignment)
        self.bench.write_memory(buffer.address, data)
        return buffer

    def read(self, buffer: Buffer, length: int | None = None) -> bytes:
        """The first `length` bytes of a buffer, all of them by default."""
        return self.bench.read_memory(buffer.address, buffer.length if length is None else length)

    def release_all(self) -> None:
        """Forgets every buffer, so that their addresses are given out again."""
        self.bench.forbid_all()
        self._next = _FIRST_ADDRESS

    def command(self, command: str | int, rs1: int = 0, rs2: int = 0, *, opcode: int | None = None) -> None:
        """Gives the unit a command that has no answer, by its name in the manifest or by its funct.

        `opcode` n of custom-n is the unit's first. Raises `RackwrightError` for a name that it does not have.
        """
        self._way.command(self._opcode(opcode), self._funct(command), rs1, rs2)

    def query(
        self,
        command: str | int,
        rs1: int = 0,
        rs2: int = 0,
        *,
        opcode: int | None = None,
        max_cycles: int = 0,
    ) -> int:
        """Gives the unit a command and waits for its answer, at most `max_cycles` (0: no limit).

        Raises `EngineError` when there is none in that time, or none can come.
        """
        return self._way.query(self._opcode(opcode), self._funct(command), rs1, rs2, max_cycles)

    def read_register(self, register: str | int) -> int:
        """What a register holds, by its name in the manifest or its offset.

        Raises `RackwrightError` for a name that it does not have, `EngineError` for a unit without registers.
        """
        return self.bench.register_read(self._register(register))

    def write_register(self, register: str | int, value: int) -> None:
        """Writes a register as a whole; raises as `read_register`."""
        self.bench.register_write(self._register(register), value)

    def send(self, stream: str, frame: bytes | bytearray | memoryview, at: int = 0) -> int:
        """Has a frame arrive at a stream from cycle `at` on, from now, or behind the one before.

        The unit takes it when it can, while it is clocked. Gives the cycle after that in which its last bytes
        are there. Raises `EngineError` for a stream that the unit does not have, or a frame that it has no
        way to take.
        """
        first = max(at, self._free.get(stream, 0))
        self._free[stream] = self.bench.deliver(memoryview(frame).tobytes(), first, 1, stream)
        return self._free[stream]

    def frames(self, stream: str) -> list[bytes]:
        """The frames that have left by a stream since the last call; of one without ends, each transfer."""
        for name, _, _, data in self.bench.frames_by_port():
            self._left.setdefault(name, []).append(data)
        return self._left.pop(stream, [])

    def receive(self, stream: str, max_cycles: int = 1_000_000) -> bytes:
        """The next frame that leaves by a stream.

        Raises `RackwrightError` when none has after so many cycles, `EngineError` when the unit stops.
        """
        frames = self._until(lambda: self.frames(stream), max_cycles, f"given no frame by {stream}")
        self._left[stream] = frames[1:] + self._left.get(stream, [])
        return frames[0]

    def await_interrupt(self, max_cycles: int = 1_000_000) -> int:
        """Runs until the interrupt line rises, or has since the last call; gives the cycle in which it did.

        Raises `RackwrightError` when it has not after so many cycles, `EngineError` when the unit stops.
        """
        rises = self._until(self._new_rises, max_cycles, "raised no interrupt")
        self._rises = rises[1:]
        return rises[0]

    def _new_rises(self) -> list[int]:
        changes = self.bench.interrupts()
        return [*self._rises, *(cycle for cycle, level in changes if level)]

    def _until(self, look: Callable[[], list[_Found]], max_cycles: int, what: str) -> list[_Found]:
        """Runs, in longer and longer steps, until there is something; `what` says what there was not."""
        passed, step = 0, 16
        while not (found := look()):
            if passed >= max_cycles:
                raise RackwrightError(f"{self.design.unit} has {what} in {passed:,} cycles")
            self.bench.run(step)
            passed, step = passed + step, 2 * step
        return found

    def work(self, max_cycles: int = 0) -> bool:
        """Steps until the unit has nothing left to do, or `max_cycles` passed; tells whether it has."""
        return self.bench.run_until_idle(max_cycles)

    @property
    def cycle(self) -> int:
        """Cycles since reset, by the clock of memory."""
        return self.bench.cycle

    @property
    def unit_cycle(self) -> int:
        """The same of a unit with a clock of its own, by that clock."""
        return self.bench.unit_cycle

    @property
    def digest(self) -> str:
        """Digest of everything the unit has exchanged so far."""
        return self.bench.digest

    @property
    def violations(self) -> int:
        """Accesses outside the buffers so far; 0 for a unit that keeps its contract."""
        return self.bench.violations

    def _funct(self, command: str | int) -> int:
        if isinstance(command, int):
            return command
        if command not in self._functs:
            names = ", ".join(self._functs) or "none with a name"
            raise RackwrightError(f"{self.design.unit} has no command {command}; there are {names}")
        return self._functs[command]

    def _register(self, register: str | int) -> int:
        if isinstance(register, int):
            return register
        if register not in self._registers:
            names = ", ".join(self._registers) or "none with a name"
            raise RackwrightError(f"{self.design.unit} has no register {register}; there are {names}")
        return self._registers[register]

    def _opcode(self, opcode: int | None) -> int:
        if opcode is not None:
            return opcode
        if not self.design.opcodes:
            raise RackwrightError(f"{self.design.unit} takes no commands; its registers are read and written")
        return self.design.opcodes[0]
