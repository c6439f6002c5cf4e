"""Modules of a design for synthesis, and those of Verilog written by firtool."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

_MODULE = re.compile(r"^module (\w+)\(.*?^endmodule", re.MULTILINE | re.DOTALL)
_INSTANCE = re.compile(r"^  (\w+) (\w+) \($", re.MULTILINE)
_PORT = re.compile(r"\s*(?:(input|output)\s*)?(?:\[(\d+):0\]\s*)?(\w+)\s*")
_DECLARATION = re.compile(
    r"^\s+(?:reg|wire|logic|input|output)\s+(?:\[(\d+):0\])?(?:\s*Memory\[0:(\d+)\])?", re.MULTILINE
)


@dataclass(frozen=True)
class Port:
    """A port of a module; `width` is None for a single bit that is no vector."""

    name: str
    direction: str
    width: int | None


class Module(Protocol):
    """One module of a design, independent of the source of its text."""

    @property
    def name(self) -> str:
        """Its name in instances: one word."""

    @property
    def text(self) -> str:
        """Its Verilog, from `module` to `endmodule`."""

    @property
    def stub(self) -> str:
        """The module without its contents."""

    @property
    def children(self) -> Counter[str]:
        """The number of instances of each other module in this one."""

    @property
    def signal_bits(self) -> int:
        """Number of bits of all declarations: a measure of its size for synthesis."""


@dataclass(frozen=True)
class FirtoolModule:
    """A module in the form that firtool writes: its name and its text, from `module` to `endmodule`."""

    name: str
    text: str

    @cached_property
    def header(self) -> str:
        """The text up to the end of the port list."""
        return self.text[: self.text.index(");") + 2]

    @property
    def stub(self) -> str:
        """The module without its contents."""
        return f"{self.header}\nendmodule\n"

    @cached_property
    def ports(self) -> tuple[Port, ...]:
        """The ports in their order. firtool leaves out a direction or width that repeats."""
        ports, direction, width = [], "", None
        body = self.header[self.header.index("(") + 1 : -2]
        for item in filter(str.strip, body.split(",")):
            match = _PORT.fullmatch(item)
            if match is None:
                raise ValueError(f"module {self.name} has a port list that firtool does not write: {item}")
            if match[1]:
                direction, width = match[1], match[2]
            elif match[2]:
                width = match[2]
            ports.append(Port(match[3], direction, None if width is None else int(width) + 1))
        return tuple(ports)

    @cached_property
    def children(self) -> Counter[str]:
        """The number of instances of each other module in this one."""
        return Counter(name for name, _ in _INSTANCE.findall(self.text))

    @cached_property
    def signal_bits(self) -> int:
        """Number of bits of all declarations: a measure of its size for synthesis."""
        found = _DECLARATION.findall(self.text)
        return sum((int(high or 0) + 1) * (int(words or 0) + 1) for high, words in found)


def modules(text: str) -> dict[str, FirtoolModule]:
    """The modules of a file that firtool has written, by name and in its order."""
    return {match[1]: FirtoolModule(match[1], match[0]) for match in _MODULE.finditer(text)}
