"""An instruction, as a word and as a line of assembly."""

from __future__ import annotations

from dataclasses import dataclass, field

from rackwright.drx.isa import Function, isa
from rackwright.errors import RackwrightError


@dataclass(frozen=True)
class Instruction:
    """A function with the values of its fields; missing ones are 0.

    Raises `RackwrightError` for a function or field that there is not, and for a value out of range.
    """

    name: str
    values: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        fields = {field.name: field for field in self.function.fields}
        for name, value in self.values.items():
            if name not in fields:
                raise RackwrightError(f"{self.name} has no {name}; it has {', '.join(fields)}")
            allowed = fields[name].range
            if value not in allowed:
                raise RackwrightError(
                    f"{self.name}: {name} is {value}, not from {allowed.start} to {allowed.stop - 1}"
                )

    @property
    def function(self) -> Function:
        """Its entry in the instruction set."""
        functions = isa().functions
        if self.name not in functions:
            raise RackwrightError(f"no instruction {self.name}; there are {', '.join(functions)}")
        return functions[self.name]

    @property
    def word(self) -> int:
        """Its 32 bits."""
        parts = (field.put(self.values.get(field.name, 0)) for field in self.function.fields)
        return self.function.opcode | sum(parts)

    def __str__(self) -> str:
        return " ".join([self.name, *(self._text(field.name) for field in self.function.fields)])

    def _text(self, name: str) -> str:
        value = self.values.get(name, 0)
        names = {code: name for name, code in isa().types.items()} if name == "type" else {}
        return f"{name}={names.get(value, value)}"


def decode(word: int) -> Instruction:
    """The instruction of a word; raises `RackwrightError` for a word that is none."""
    table = isa()
    opcode = sum(head.put(head.of(word)) for head in table.heads)
    for function in table.functions.values():
        if function.opcode == opcode:
            found = Instruction(function.name, {field.name: field.of(word) for field in function.fields})
            if found.word == word:
                return found
            raise RackwrightError(f"{word:#010x} has bits that {function.name} does not use")
    raise RackwrightError(f"{word:#010x} is no instruction")


def parse(line: str) -> Instruction | None:
    """The instruction of a line of assembly, None for a line without; raises `RackwrightError`."""
    words = line.split("#", 1)[0].split()
    if not words:
        return None
    return Instruction(words[0], dict(_assignment(word) for word in words[1:]))


def _assignment(text: str) -> tuple[str, int]:
    name, found, value = text.partition("=")
    if found and name == "type" and value in isa().types:
        return name, isa().types[value]
    try:
        return name, int(value, 0)
    except ValueError:
        raise RackwrightError(f"{text} is not FIELD=VALUE") from None
