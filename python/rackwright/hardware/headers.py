"""C headers of units for programs, generated from their manifests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from rackwright import _engine
from rackwright.errors import RackwrightError
from rackwright.hardware.manifests import read_manifest
from rackwright.hardware.registers import RegisterMap, has_registers, registers_of

_MOST_FUNCT = 127
"""The last number of a command; at the end of the numbers of a unit that has not all of an opcode."""


@dataclass(frozen=True)
class HeaderUnit:
    """A unit in a header: its manifest, and the prefix of its command constants, by default its name.

    Several units may share a prefix, if their common constants have the same values. `name` distinguishes it
    from others of its kind.
    """

    manifest: Path
    prefix: str | None = None
    name: str | None = None

    @cached_property
    def record(self) -> dict[str, Any]:
        """The contents of the manifest."""
        return read_manifest(self.manifest)

    @property
    def port(self) -> dict[str, Any]:
        """The entry of its commands; raises `RackwrightError` for a unit that does not list them."""
        ports: list[dict[str, Any]] = self.record["ports"]
        for port in ports:
            if port["contract"] in ("command", "mmio") and port.get("commands"):
                return port
        raise RackwrightError(f"{self.manifest}: does not say which commands {self.record['unit']} has")

    @property
    def registers(self) -> RegisterMap | None:
        """Its registers, if the manifest lists them; None for a unit with commands."""
        for port in self.record["ports"]:
            if has_registers(port) and not port.get("commands"):
                return registers_of([port])
        return None

    @property
    def has_interrupt(self) -> bool:
        """Whether programs can wait for its interrupts."""
        return any(port["contract"] == "interrupt" for port in self.record["ports"])

    def called(self) -> str:
        """Its name."""
        return self.name or str(self.record["unit"])


@dataclass(frozen=True)
class _Reach:
    """How a unit is reached: through functs `first` to `last` of an opcode, or through registers.

    `interrupt` is how programs know its interrupt: a value, and what it means.
    """

    opcode: int
    first: int = 0
    last: int = _MOST_FUNCT
    registers: int | None = None
    interrupt: tuple[str, str] | None = None

    def funct(self, own: int) -> int:
        """The number of the command that the unit knows by `own`."""
        if self.registers is not None:
            return own
        return self.last if own == _MOST_FUNCT else self.first + own


def server_header(units: Sequence[Path]) -> str:
    """The header of a server with units of these manifests, as `Server` attaches them in this order.

    Raises `EngineError` if they cannot be attached together, `RackwrightError` for a unit without a list of
    commands.
    """
    reached = []
    for manifest, (name, ranges, registers) in zip(units, _engine.reach(units), strict=True):
        unit = HeaderUnit(manifest, name=name)
        if unit.registers is not None:
            word = None
            if unit.has_interrupt and registers is not None:
                word = (
                    f"{_engine.interrupt_word(registers):#x}",
                    "a read of 8 bytes waits for its interrupt",
                )
            reached.append((unit, _Reach(0, registers=registers, interrupt=word)))
            continue
        opcodes = unit.port.get("opcodes")
        ways = [_Reach(*way) for way in ranges]
        if registers is not None:
            ways = [_Reach(opcodes[0] if opcodes else 0, registers=registers)]
        if len(ways) != 1:
            raise RackwrightError(f"{manifest}: a header is for units with one opcode, not {len(ways)}")
        reached.append((unit, ways[0]))
    made = "Made of their manifests by `rw units --header`, for a server that has them in this order."
    return _header(reached, made, "RACKWRIGHT_UNITS_H")


def bus_header(units: Sequence[tuple[HeaderUnit, int, int | None]]) -> str:
    """The header of units on the buses of a chip.

    Each has the address of its registers, and the number of its first interrupt at the interrupt controller.
    Raises `RackwrightError` for a unit that lists neither commands nor registers.
    """
    reached = []
    for unit, registers, number in units:
        opcodes = unit.port.get("opcodes") if unit.registers is None else None
        interrupt = None if number is None else (str(number), "its interrupt, for the interrupt controller")
        reached.append((unit, _Reach(opcodes[0] if opcodes else 0, registers=registers, interrupt=interrupt)))
    return _header(reached, "Made of their manifests by `rw soc compose`.", "RACKWRIGHT_BUS_H")


def library_header(units: Sequence[HeaderUnit], guard: str) -> str:
    """The header of units that each have an opcode alone. Units with the same prefix are one for programs.

    Raises `RackwrightError` as `server_header`.
    """
    reached = [(unit, _Reach(unit.port["opcodes"][0])) for unit in units]
    made = "Made of their manifests by `pytest tests/test_headers.py --update-docs`."
    return _header(reached, made, guard)


def registers_header(name: str, prefix: str, registers: RegisterMap, guard: str) -> str:
    """The header of the registers in `name`, with constants that begin with `prefix`."""
    lines = [f"/* Registers of {name}: offsets in bytes, and the first bits of their fields.", " *"]
    lines += [" * Made of their map by `pytest tests/test_headers.py --update-docs`. */"]
    lines += [f"#ifndef {guard}", f"#define {guard}", ""]
    lines += [str(constant) for constant in _register_constants(prefix, registers)]
    return "\n".join([*lines, "", "#endif", ""])


@dataclass(frozen=True)
class _Constant:
    """A constant of a header with its meaning."""

    name: str
    value: str
    meaning: str

    def __str__(self) -> str:
        return f"#define {self.name} {self.value}" + (f" /* {self.meaning} */" if self.meaning else "")


def _header(units: Sequence[tuple[HeaderUnit, _Reach]], made: str, guard: str) -> str:
    names = dict.fromkeys(unit.called() for unit, _ in units)
    lines = [f"/* How programs reach {', '.join(names)}.", " *", f" * {made} */"]
    lines += [f"#ifndef {guard}", f"#define {guard}", ""]
    defined: dict[str, str] = {}
    for unit, reach in units:
        for constant in _constants(unit, reach):
            if defined.get(constant.name, constant.value) != constant.value:
                raise RackwrightError(f"{constant.name} is {defined[constant.name]} and {constant.value}")
            if constant.name not in defined:
                lines.append(str(constant))
            defined[constant.name] = constant.value
        lines.append("")
    return "\n".join([*lines, "#endif", ""])


def _constants(unit: HeaderUnit, reach: _Reach) -> Iterator[_Constant]:
    """How the unit is reached, its commands or registers, and the layout of its record."""
    name = unit.called()
    prefix = unit.prefix or _constant(name)
    if unit.registers is not None:
        yield _Constant(f"{prefix}_REGISTERS", f"{reach.registers:#x}", f"{name}: where its registers are")
        yield from _interrupt_constants(prefix, name, reach)
        yield from _register_constants(prefix, unit.registers)
        return
    port = unit.port
    if reach.registers is not None:
        where = f"{name}: the page of its registers; CUSTOM is a part of commands"
        yield _Constant(f"{prefix}_REGISTERS", f"{reach.registers:#x}", where)
        yield from _interrupt_constants(prefix, name, reach)
    yield _Constant(f"{_constant(name)}_CUSTOM", str(reach.opcode), f"{name}: n of custom-n")
    for command in port["commands"]:
        funct = reach.funct(command["funct"])
        yield _Constant(f"{prefix}_{_constant(command['name'])}", str(funct), _meaning(command))
    if reach.registers is None and all(command["name"] != "fault" for command in port["commands"]):
        where = "answers where an access was refused, if the unit translates addresses"
        yield _Constant(f"{prefix}_FAULT", str(reach.funct(_MOST_FUNCT)), where)
    for field in port.get("record", ()):
        meaning = f"first of {field['bits']} bits of the record: {field['meaning']}"
        yield _Constant(f"{prefix}_RECORD_{_constant(field['name'])}", str(field["bit"]), meaning)


def _interrupt_constants(prefix: str, name: str, reach: _Reach) -> Iterator[_Constant]:
    """The interrupt of a unit, if programs can have it."""
    if reach.interrupt is not None:
        value, meaning = reach.interrupt
        yield _Constant(f"{prefix}_INTERRUPT", value, f"{name}: {meaning}")


def _register_constants(prefix: str, registers: RegisterMap) -> Iterator[_Constant]:
    """Offsets of registers and positions of their fields."""
    for register in registers.values():
        several = f"the first of {register.count}, {register.stride} bytes apart"
        parts = [register.meaning] if register.count == 1 else [several, register.meaning]
        name = f"{prefix}_{_constant(register.name)}"
        yield _Constant(name, f"{register.offset:#x}", _comment(": ".join(filter(None, parts))))
        for field in register.fields:
            bits = f"first of {field.bits} bits" if field.bits > 1 else "the bit"
            meaning = f"{bits}: {field.meaning}" if field.meaning else bits
            yield _Constant(f"{name}_{_constant(field.name)}_BIT", str(field.bit), _comment(meaning))


def _comment(text: str) -> str:
    """A text in one line, as a C comment."""
    return " ".join(text.split()).replace("*/", "* /")


def _meaning(command: Mapping[str, Any]) -> str:
    """The operands and the response of a command, in a line."""
    words = {"rs1": "rs1: {}", "rs2": "rs2: {}", "answer": "answers {}"}
    said = ", ".join(text.format(command[part]) for part, text in words.items() if part in command)
    return _comment(said)


def _constant(name: str) -> str:
    """A name in the form of a constant; raises `RackwrightError` for a name that C does not accept."""
    constant = name.upper().replace("-", "_")
    if re.fullmatch(r"[A-Z][A-Z0-9_]*", constant) is None:
        raise RackwrightError(f"{name!r} can't be a part of a constant: letters, digits, _ and - can")
    return constant
