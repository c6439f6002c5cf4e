"""Which address calculators hold the operands of vector instructions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import chain

from rackwright.drx.isa import isa
from rackwright.drx.program import Builder
from rackwright.drx.vector import Constant, Operand

_Key = tuple[str, int, tuple[int, ...]]
"""A type with an address or the bits of a constant, and strides: those of loops, then that of the vector."""


@dataclass
class OperandCalculators:
    """Calculators that are free for operands, and the state of each and of the vector length.

    An operand that a calculator holds already takes no instruction. The least recently used one is replaced.
    The state is that of straight code: begin with a new one in the body of each loop.
    """

    free: Sequence[int]
    held: dict[int, _Key] = field(default_factory=dict)
    length: int | None = None

    def choose(self, builder: Builder, operands: Sequence[Operand]) -> list[int]:
        """Calculators that hold these operands, whose loops are the next ones that the builder opens."""
        keys = [_key(operand) for operand in operands]
        places = {key: calculator for calculator, key in self.held.items()}
        chosen = {key: places[key] for key in keys if key in places}
        for key in keys:
            if key not in chosen:
                chosen[key] = self._oldest(chosen.values())
                _set(builder, chosen[key], key)
            self.held.pop(chosen[key], None)
            self.held[chosen[key]] = key
        return [chosen[key] for key in keys]

    def set_length(self, builder: Builder, length: int) -> None:
        """The elements of the vectors that follow."""
        if length != self.length:
            builder.add("length", value=length)
            self.length = length

    def _oldest(self, taken: Collection[int]) -> int:
        unused = (each for each in self.free if each not in self.held)
        by_age = (each for each in self.held if each not in taken)
        return next(chain(unused, by_age))


def _key(operand: Operand) -> _Key:
    if isinstance(operand, Constant):
        return "constant", operand.bits, (0,)
    return operand.element, operand.address, operand.strides


def _set(builder: Builder, calculator: int, key: _Key) -> None:
    element, address, (*strides, lane) = key
    builder.set("base", address, calculator=calculator)
    builder.set("format", lane, calculator=calculator, type=isa().types[element])
    for level, stride in enumerate(strides, builder.depth):
        builder.stride(calculator, level, stride)
