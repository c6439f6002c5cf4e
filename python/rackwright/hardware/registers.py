"""Registers of units: the maps that hardware, engine and software share, and those of manifests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from bootstrap.paths import HARDWARE
from rackwright.errors import RackwrightError


@dataclass(frozen=True)
class RegisterField:
    """Bits of a register: `bits` of them from bit `bit` on."""

    name: str
    bit: int
    bits: int
    meaning: str = ""

    def of(self, word: int) -> int:
        """Its value in the register's contents."""
        return word >> self.bit & (1 << self.bits) - 1


@dataclass(frozen=True)
class Register:
    """A register, or `count` of them, `stride` bytes from one to the next; the first is at byte `offset`.

    `access` is "read", "write" or "read-write"; a `counter` counts.
    """

    name: str
    offset: int
    access: str = "read-write"
    meaning: str = ""
    fields: tuple[RegisterField, ...] = ()
    counter: bool = False
    count: int = 1
    stride: int = 8
    bits: int | None = None
    reset: int = 0

    def field(self, name: str) -> RegisterField:
        """The field with that name; raises `RackwrightError` if there is none."""
        for field in self.fields:
            if field.name == name:
                return field
        raise RackwrightError(f"register {self.name} has no field {name}")

    def at(self, index: int) -> int:
        """The offset of the register with number `index`."""
        return self.offset + self.stride * index

    def word(self, **values: int) -> int:
        """Its contents if its fields have these values, and all others 0.

        Raises `RackwrightError` for a field that there is not, or that does not hold its value.
        """
        word = 0
        for name, value in values.items():
            field = self.field(name)
            if not 0 <= value < 1 << field.bits:
                raise RackwrightError(f"{name} of register {self.name} has {field.bits} bits, not {value}")
            word |= value << field.bit
        return word


class RegisterMap(Mapping[str, Register]):
    """Registers by name, in the order of the file."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], bytes: int = 8) -> None:
        """From rows in the format of manifests; registers have this number of `bytes`."""
        self._registers = {str(row["name"]): _register(row, bytes) for row in rows}

    def __getitem__(self, name: str) -> Register:
        return self._registers[name]

    def __iter__(self) -> Any:
        return iter(self._registers)

    def __len__(self) -> int:
        return len(self._registers)

    @property
    def counters(self) -> list[Register]:
        """The counters."""
        return [register for register in self.values() if register.counter]


def _register(row: Mapping[str, Any], bytes: int) -> Register:
    fields = tuple(RegisterField(**field) for field in row.get("fields", ()))
    return Register(**{"stride": bytes} | dict(row) | {"fields": fields})


@cache
def register_map(folder: str) -> RegisterMap:
    """The map in a folder of the resources of the hardware, such as "nic" or "nic/virtio"."""
    path = HARDWARE / "src" / "main" / "resources" / "rackwright" / folder / "registers.json"
    return RegisterMap(json.loads(path.read_text(encoding="utf-8"))["registers"])


def register_rows(registers: RegisterMap) -> list[list[str]]:
    """Offset, name, access and fields of each, as pages and the command line show them."""
    return [
        [_places(register), register.name, register.access.replace("-", ", "), _said(register)]
        for register in registers.values()
    ]


def _places(register: Register) -> str:
    if register.count == 1:
        return f"{register.offset:#05x}"
    return f"{register.offset:#05x} + {register.stride} i, i < {register.count}"


def _said(register: Register) -> str:
    bits = [
        f"{field.bit + field.bits - 1}:{field.bit}" if field.bits > 1 else str(field.bit)
        for field in register.fields
    ]
    fields = [
        f"{place} {field.name.replace('_', ' ')}" + (f" ({field.meaning})" if field.meaning else "")
        for place, field in zip(bits, register.fields, strict=True)
    ]
    said = [register.meaning] if register.meaning else ["counts"] if register.counter else []
    return ": ".join(filter(None, ["; ".join(said), ", ".join(fields)]))


def registers_of(ports: Sequence[Mapping[str, Any]]) -> RegisterMap:
    """The registers that the ports of a manifest list; empty for a unit that does not list them."""
    for port in ports:
        if port.get("registers"):
            return RegisterMap(port["registers"], register_bytes(port))
    return RegisterMap([])


def has_registers(port: Mapping[str, Any]) -> bool:
    """Whether harts access registers by a port of a manifest."""
    is_tilelink = port["contract"] == "tilelink" and port["direction"] == "in"
    return is_tilelink or port["contract"] in ("axi4-lite", "apb", "mmio")


def register_bytes(port: Mapping[str, Any]) -> int:
    """The bytes of each register of a port of a manifest."""
    return int(
        {"axi4-lite": port.get("bytes", 8), "tilelink": port.get("bytes", 8), "apb": 4}.get(
            port["contract"], 8
        )
    )
