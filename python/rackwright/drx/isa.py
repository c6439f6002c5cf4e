"""The instruction set: the table that the hardware and the model read as well."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from rackwright import _engine


@dataclass(frozen=True)
class Field:
    """Bits of an instruction."""

    name: str
    low: int
    bits: int
    signed: bool = False

    @property
    def range(self) -> range:
        """The values that it holds."""
        half = 1 << (self.bits - 1)
        return range(-half, half) if self.signed else range(2 * half)

    def of(self, word: int) -> int:
        """Its value in a word."""
        value = word >> self.low & ((1 << self.bits) - 1)
        return value - (1 << self.bits) if self.signed and value >> (self.bits - 1) else value

    def put(self, value: int) -> int:
        """The bits of a word that hold a value of its range."""
        return (value & ((1 << self.bits) - 1)) << self.low


@dataclass(frozen=True)
class Function:
    """A function of an operation, which names an instruction."""

    name: str
    operation: str
    opcode: int
    fields: tuple[Field, ...]
    sources: int


@dataclass(frozen=True)
class Isa:
    """All functions by their names, the numbers of types, and which of these are floating point."""

    functions: dict[str, Function]
    types: dict[str, int]
    floats: frozenset[str]
    calculators: int
    regions: int
    strides: tuple[int, ...]
    stride_bytes: int
    heads: tuple[Field, Field]


def _function(operation: dict[str, Any], row: dict[str, Any], heads: tuple[Field, Field]) -> Function:
    fields = [Field(**field) for field in (*row.get("fields", ()), *operation.get("fields", ()))]
    opcode = heads[0].put(operation["code"]) | heads[1].put(row["code"])
    return Function(row["name"], operation["name"], opcode, tuple(fields), row.get("sources", 0))


@cache
def isa() -> Isa:
    """The table."""
    table = json.loads(_engine.drx_isa())
    heads = (Field("operation", **table["operation"]), Field("function", **table["function"]))
    functions = [_function(each, row, heads) for each in table["operations"] for row in each["functions"]]
    return Isa(
        {function.name: function for function in functions},
        {row["name"]: row["code"] for row in table["types"]},
        frozenset(row["name"] for row in table["types"] if row.get("float")),
        table["calculators"],
        table["regions"],
        tuple(table["strides"]),
        table["stride_bytes"],
        heads,
    )
