"""Programs: as text, as bytes, and during assembly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rackwright.drx.instruction import Instruction, decode, parse
from rackwright.drx.isa import isa
from rackwright.errors import RackwrightError

WORD_BYTES = 4


@dataclass
class Program:
    """Instructions in their order."""

    instructions: list[Instruction] = field(default_factory=list)

    @property
    def words(self) -> list[int]:
        """Their words."""
        return [instruction.word for instruction in self.instructions]

    def to_bytes(self) -> bytes:
        """Its encoding in memory."""
        return b"".join(word.to_bytes(WORD_BYTES, "little") for word in self.words)

    def __str__(self) -> str:
        return "".join(f"{instruction}\n" for instruction in self.instructions)

    @classmethod
    def from_bytes(cls, data: bytes) -> Program:
        """The program of these bytes; raises `RackwrightError` with the first invalid word."""
        if len(data) % WORD_BYTES:
            raise RackwrightError(f"{len(data)} bytes is not a multiple of the size of an instruction")
        program = cls()
        for place in range(0, len(data), WORD_BYTES):
            try:
                program.instructions.append(
                    decode(int.from_bytes(data[place : place + WORD_BYTES], "little"))
                )
            except RackwrightError as error:
                raise RackwrightError(f"instruction {place // WORD_BYTES}: {error}") from error
        return program

    @classmethod
    def from_text(cls, text: str) -> Program:
        """The program of these lines of assembly; raises `RackwrightError` with the line of an error."""
        program = cls()
        for number, line in enumerate(text.splitlines(), 1):
            try:
                found = parse(line)
            except RackwrightError as error:
                raise RackwrightError(f"line {number}: {error}") from error
            if found is not None:
                program.instructions.append(found)
        return program


def read_program(path: Path) -> Program:
    """The program of a file: assembly in one that ends in `.s`, its bytes in others.

    Raises `RackwrightError` that names the file when it is none, or holds no program.
    """
    try:
        data = path.read_bytes()
        return Program.from_text(data.decode()) if path.suffix == ".s" else Program.from_bytes(data)
    except OSError as error:
        raise RackwrightError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise RackwrightError(f"{path}: is no text: {error.reason} at byte {error.start}") from error
    except RackwrightError as error:
        raise RackwrightError(f"{path}: {error}") from error


class Builder:
    """Assembles a program, or the part within `depth` loops: values of any size, loops."""

    def __init__(self, depth: int = 0) -> None:
        self.program = Program()
        self.depth = depth
        self.deepest = depth

    def add(self, name: str, **values: int) -> None:
        """One more instruction."""
        self.program.instructions.append(Instruction(name, values))

    def set(self, name: str, value: int, **values: int) -> None:
        """An instruction that sets a 32-bit value; bits for which it has no room are set by one before it."""
        own = next(field for field in isa().functions[name].fields if field.name == "value")
        if value not in own.range:
            self.add("upper", value=(value & 0xFFFF_FFFF) >> own.bits)
            low = value & ((1 << own.bits) - 1)
            value = own.of(own.put(low))
        self.add(name, value=value, **values)

    def stride(self, calculator: int, level: int, value: int) -> None:
        """The strides of a loop for a calculator, 0 unless given."""
        if value:
            self.set("stride", value, calculator=calculator, level=level)

    def append(self, other: Builder) -> None:
        """All instructions assembled within the open loops."""
        self.program.instructions += other.program.instructions
        self.deepest = max(self.deepest, other.deepest)

    @contextmanager
    def loop(self, iterations: int) -> Iterator[int]:
        """A loop around the instructions added within; returns its level.

        One of a single iteration is left out.

        The block must end with an instruction that can end a loop.
        """
        level = self.depth
        if iterations > 1:
            self.add("loop", value=iterations)
            self.depth += 1
            self.deepest = max(self.deepest, self.depth)
        yield level
        if iterations > 1:
            self.depth -= 1
            last = self.program.instructions.pop()
            ends = last.values.get("ends", 0) + 1
            self.program.instructions.append(Instruction(last.name, {**last.values, "ends": ends}))
