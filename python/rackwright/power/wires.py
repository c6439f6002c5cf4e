"""A design in gates as a flat list of cells, and the wires between them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from rackwright.synthesis.mapping import Mapped
from rackwright.synthesis.memories import Memory
from rackwright.synthesis.netlist import Netlist
from rackwright.synthesis.netlist_text import ASSIGNED, INSTANCE, NAME, PIN, plain

Wire = int
"""A bit, by its number; `ZERO` and `ONE` are constant."""

ZERO, ONE = 0, 1

_DECLARED = re.compile(rf"^  (input|output|wire) (?:\[(\d+):0\] )?({NAME});", re.MULTILINE)
_BITS = re.compile(rf"1'h([01])|({NAME})(?:\[(\d+)(?::(\d+))?\])?")
_MADE_UP = re.compile(r"_\d+_")
_COLUMN = re.compile(r"^column(\d+)$")
"""An instance of a part of a memory that is mapped in columns: where in a word it begins."""


@dataclass(frozen=True)
class Gate:
    """A cell of the library: its path with slashes, the piece in which it stands, the wires at its pins."""

    cell: str
    path: str
    piece: str
    pins: dict[str, Wire]


@dataclass(frozen=True)
class Macro:
    """A memory that is a macro, and the wires at its ports, the lowest bit first."""

    memory: str
    path: str
    ports: dict[str, list[Wire]]


@dataclass
class Wires:
    """The cells and macros of a design; `names` are those that the source has for wires, if any."""

    gates: list[Gate] = field(default_factory=list)
    macros: list[Macro] = field(default_factory=list)
    inputs: dict[str, Wire] = field(default_factory=dict)
    names: dict[Wire, list[str]] = field(default_factory=lambda: defaultdict(list))


def wires_of(netlist: Netlist, memories: Mapping[str, Memory]) -> Wires:
    """Everything that stands in a netlist, whose macros are `memories`."""
    return _Placer(netlist, memories).placed()


_Reference = tuple[str, int]
"""A bit of a net of a piece."""


class _Part:
    """The text of a piece, taken apart."""

    def __init__(self, mapped: Mapped) -> None:
        self._text = mapped.netlist.read_text(encoding="utf-8")

    @cached_property
    def nets(self) -> dict[str, tuple[str, int]]:
        """The kind and the width of each net."""
        return {plain(name): (kind, int(high or 0) + 1) for kind, high, name in _DECLARED.findall(self._text)}

    @cached_property
    def assigned(self) -> list[tuple[list[_Reference], list[_Reference]]]:
        """Bits that are the same, side by side."""
        return [(self.bits(left), self.bits(right)) for left, right in ASSIGNED.findall(self._text)]

    @cached_property
    def instances(self) -> list[tuple[str, str, dict[str, list[_Reference]]]]:
        """Everything that stands in it: what, its name, and the bits at its pins."""
        return [
            (cell, plain(name), {pin: self.bits(bits) for pin, bits in PIN.findall(pins)})
            for cell, name, pins in INSTANCE.findall(self._text)
        ]

    def bits(self, expression: str) -> list[_Reference]:
        """The bits of an expression, the lowest first; a constant is one of the net ""."""
        parts = [self._part(*match) for match in _BITS.findall(expression)]
        return [bit for part in reversed(parts) for bit in part]

    def _part(self, constant: str, net: str, high: str, low: str) -> list[_Reference]:
        if constant:
            return [("", int(constant))]
        name = plain(net)
        if not high:
            return [(name, place) for place in range(self.nets[name][1])]
        return [(name, place) for place in range(int(low or high), int(high) + 1)]


class _Placer:
    def __init__(self, netlist: Netlist, memories: Mapping[str, Memory]) -> None:
        self._netlist = netlist
        self._memories = memories
        self._parts = {name: _Part(mapped) for name, mapped in netlist.parts.items()}
        self._same: list[Wire] = [ZERO, ONE]
        self._named: list[tuple[Wire, str]] = []
        self._wires = Wires()

    def placed(self) -> Wires:
        top = self._parts[self._netlist.top]
        ports = {net: self._new(width) for net, (kind, width) in top.nets.items() if kind != "wire"}
        self._place(self._netlist.top, (), (), ports)
        wires, find = self._wires, self._find
        wires.gates = [
            Gate(gate.cell, gate.path, gate.piece, {pin: find(wire) for pin, wire in gate.pins.items()})
            for gate in wires.gates
        ]
        for macro in wires.macros:
            for port, bits in macro.ports.items():
                macro.ports[port] = [find(wire) for wire in bits]
        for wire, name in self._named:
            wires.names[find(wire)].append(name)
        for net, (kind, width) in top.nets.items():
            if kind == "input":
                wires.inputs |= {_bit(net, place, width): find(ports[net][place]) for place in range(width)}
        return wires

    def _new(self, count: int) -> list[Wire]:
        first = len(self._same)
        self._same.extend(range(first, first + count))
        return list(range(first, first + count))

    def _find(self, wire: Wire) -> Wire:
        same = self._same
        while same[wire] != wire:
            same[wire] = same[same[wire]]
            wire = same[wire]
        return wire

    def _join(self, left: Wire, right: Wire) -> None:
        """Makes two wires one; a constant stays what it is."""
        one, other = sorted((self._find(left), self._find(right)))
        self._same[other] = one

    def _place(
        self, piece: str, path: tuple[str, ...], scope: Sequence[str], ports: Mapping[str, list[Wire]]
    ) -> None:
        """Places what is in a piece at `path`, which the source calls `scope`, with wires at its ports."""
        part = self._parts[piece]
        nets = {net: ports.get(net) or self._new(width) for net, (_, width) in part.nets.items()}
        for net, bits in nets.items():
            if not _MADE_UP.fullmatch(net):
                self._named += _names(scope, net, bits)

        def wires(references: Sequence[_Reference]) -> list[Wire]:
            return [nets[net][place] if net else place for net, place in references]

        for left, right in part.assigned:
            for one, other in zip(wires(left), wires(right), strict=True):
                self._join(one, other)
        for cell, name, pins in part.instances:
            below = (*path, name)
            if cell in self._parts:
                self._place(cell, below, (*scope, name), {pin: wires(bits) for pin, bits in pins.items()})
            elif cell in self._memories:
                ends = {pin: wires(bits) for pin, bits in pins.items()}
                self._wires.macros.append(Macro(cell, "/".join(below), ends))
                for port, bits in ends.items():
                    self._named += _names((*scope, name), port, bits)
            else:
                single = {pin: wires(bits)[0] for pin, bits in pins.items() if bits}
                self._wires.gates.append(Gate(cell, "/".join(below), piece, single))


def _names(scope: Sequence[str], net: str, bits: Sequence[Wire]) -> Iterator[tuple[Wire, str]]:
    """What the source calls the bits of a net; those of a column of a memory stand further up in a word."""
    column = _COLUMN.match(scope[-1]) if scope else None
    outer, first = (scope[:-1], int(column[1])) if column else (scope, 0)
    width = len(bits) + (column is not None)
    for place, wire in enumerate(bits):
        yield wire, ".".join([*outer, _bit(net, first + place, width)])


def _bit(net: str, place: int, width: int) -> str:
    return net if width == 1 else f"{net}[{place}]"
