"""Leaves out the inside of repeated pieces when a large design is timed.

Copies of a piece have the same paths: the first ones are timed as they are, and of the others only what is at
their ports, so that paths between pieces have the same drivers and loads.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from rackwright.synthesis.liberty import Cell
from rackwright.synthesis.netlist import Netlist
from rackwright.synthesis.netlist_text import ASSIGNED, INSTANCE, NAME, PIN, plain

LARGE = 1_500_000
"""Cells up to which a design is timed as it is; for each million of them, OpenSTA needs some 2 GB."""

WHOLE = 2
"""Copies in a piece that are timed as they are: the first one often has connections of its own."""

_SHARE = 0.05
"""Part of all cells that the copies of a piece have at least to be left out."""

_NAME = re.compile(r"\\(\S+)|(?<![\w'])([A-Za-z_][\w$]*)")
_PORT = re.compile(rf"^  (?:input|output) (?:\[\d+:0\] )?({NAME});", re.MULTILINE)


def thinned(netlist: Netlist, folder: Path, clocks: Collection[str], cells: Mapping[str, Cell]) -> list[Path]:
    """The files of a netlist's pieces, or of a large one those that replace them, which are in `folder`.

    The pieces are of `cells`, and `clocks` are the nets that clock them.
    """
    files = {name: part.netlist for name, part in netlist.parts.items()}
    sizes = _Sizes(netlist)
    if sizes.of(netlist.top) <= LARGE:
        return sorted(set(files.values()))
    left_out = _repeated(netlist, sizes)
    made = []
    for name in left_out:
        made.append(folder / f"{name}_shell.v")
        made[-1].write_text(
            _shell(name, files[name].read_text(encoding="utf-8"), clocks, cells), encoding="utf-8"
        )
    for name, part in netlist.parts.items():
        if any(part.cells[each] > WHOLE for each in left_out):
            files[name] = folder / f"{name}.v"
            files[name].write_text(
                _with_shells(part.netlist.read_text(encoding="utf-8"), left_out), encoding="utf-8"
            )
    return sorted({*files.values(), *made})


class _Sizes:
    """The cells of pieces with all that is in them."""

    def __init__(self, netlist: Netlist) -> None:
        self._parts = netlist.parts
        self._known: dict[str, int] = {}

    def of(self, name: str) -> int:
        if name not in self._parts:
            return 1
        if name not in self._known:
            cells = self._parts[name].cells
            self._known[name] = sum(count * self.of(cell) for cell, count in cells.items())
        return self._known[name]


def _repeated(netlist: Netlist, sizes: _Sizes) -> list[str]:
    """Pieces without others in them, more than `WHOLE` times in one, that are a large part of all."""
    least = _SHARE * sizes.of(netlist.top)
    return [
        name
        for name, part in netlist.parts.items()
        if not any(cell in netlist.parts for cell in part.cells)
        and netlist.copies[name] * sizes.of(name) >= least
        and any(other.cells[name] > WHOLE for other in netlist.parts.values())
    ]


def _names(text: str) -> Iterator[str]:
    for match in _NAME.finditer(text):
        yield match[1] or match[2]


def _shell(name: str, text: str, clocks: Collection[str], cells: Mapping[str, Cell]) -> str:
    """The piece with what is at its ports alone.

    That is the cells at its inputs, the logic from registers and inputs to its outputs, and all loads of it.
    """
    instances = [_Instance.of(match) for match in INSTANCE.finditer(text)]
    outside = {plain(port) for port in _PORT.findall(text)} - set(clocks)
    for target, value in ASSIGNED.findall(text):
        if outside.intersection(_names(target)):
            outside.update(_names(value))
    drivers: defaultdict[str, list[_Instance]] = defaultdict(list)
    for each in instances:
        cell = cells.get(each.cell)
        for pin in cell.functions if cell is not None and not cell.is_flop else ():
            for net in each.nets.get(pin, ()):
                drivers[net].append(each)
    wanted = list(outside)
    while wanted:
        for each in drivers[wanted.pop()]:
            new = set(chain(*each.nets.values())) - outside
            outside |= new
            wanted += new
    kept = {each.name for each in instances if outside.intersection(chain(*each.nets.values()))}
    shell = INSTANCE.sub(lambda match: match[0] if match[2] in kept else "", text)
    return shell.replace(f"module {name}(", f"module {name}_shell(", 1)


@dataclass(frozen=True)
class _Instance:
    """An instance in a piece, and the nets at its pins without indices."""

    name: str
    cell: str
    nets: dict[str, list[str]]

    @classmethod
    def of(cls, match: re.Match[str]) -> _Instance:
        return cls(match[2], match[1], {pin: list(_names(value)) for pin, value in PIN.findall(match[3])})


def _with_shells(text: str, left_out: Collection[str]) -> str:
    """A piece in which only the first copies of these pieces are whole, in the order of their numbers."""
    for name in left_out:
        copies = [match[2] for match in INSTANCE.finditer(text) if match[1] == name]
        for copy in sorted(copies, key=_by_number)[WHOLE:]:
            text = text.replace(f"\n  {name} {copy} (", f"\n  {name}_shell {copy} (", 1)
    return text


def _by_number(name: str) -> tuple[list[int], str]:
    return [int(digits) for digits in re.findall(r"\d+", name)], name
