"""Writes what yosys mapped as Verilog: a module of cells and boxes.

yosys can write Verilog too, but takes a fifth of a mapping's time for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, groupby
from typing import Any

Bit = int | str
"""A bit of a module in yosys's JSON: the number of a net, or the constant "0" or "1"."""

_WORD = re.compile(r"[A-Za-z_][\w$]*")
_READ = re.compile(r"\$\\(.*)\$rdreg\[(\d+)\]\$q")
"""What yosys calls the register of a read port of a memory that became flops: the memory and the port."""


def netlist_verilog(name: str, module: Mapping[str, Any]) -> str:
    """The Verilog of the module `name`, of which `module` is yosys's JSON.

    Nets keep the names of the source; the register of a memory's read port is called after the memory. Those
    that mapping made are `_0_`, `_1_` and so on, as are its cells.
    """
    return "\n".join(_Writer(name, module).lines())


class _Writer:
    def __init__(self, name: str, module: Mapping[str, Any]) -> None:
        self._name = name
        self._ports: Mapping[str, Any] = module["ports"]
        self._cells: Mapping[str, Any] = module["cells"]
        self._numbers = count()
        self._names: dict[int, tuple[str, int | None]] = {}
        shown = ((_shown(net, record), record["bits"]) for net, record in module["netnames"].items())
        named = {net: bits for net, bits in shown if net is not None}
        self._nets: dict[str, list[Bit]] = dict(sorted(named.items(), key=lambda item: self._rank(item[0])))
        for net, bits in self._nets.items():
            for place, bit in enumerate(bits):
                if isinstance(bit, int):
                    self._names.setdefault(bit, (net, place if len(bits) > 1 else None))

    def _rank(self, net: str) -> int:
        """What a bit with several names is called: an input's name before an inner one before an output's."""
        direction = self._ports[net]["direction"] if net in self._ports else ""
        return {"input": 0, "": 1, "output": 2}[direction]

    def lines(self) -> Iterator[str]:
        body = [*self._aliases(), *self._instances()]
        yield f"module {self._name}({', '.join(map(_escaped, self._ports))});"
        for port, record in self._ports.items():
            yield f"  {record['direction']} {_declared(port, record['bits'])};"
        for net, bits in self._nets.items():
            if net not in self._ports:
                yield f"  wire {_declared(net, bits)};"
        made = sorted(name for name, place in self._names.values() if name not in self._nets)
        yield from (f"  wire {name};" for name in made)
        yield from body
        yield "endmodule\n"

    def _aliases(self) -> Iterator[str]:
        """Nets whose bits are constant or have another name, each run of them in one assignment."""
        for net, bits in self._nets.items():
            if net in self._ports and self._ports[net]["direction"] == "input":
                continue
            places = [i for i, bit in enumerate(bits) if self._reference(bit)[0] != net]
            for _, group in groupby(enumerate(places), key=lambda item: item[1] - item[0]):
                run = [place for _, place in group]
                target = _escaped(net) + (f"[{run[-1]}:{run[0]}]" if len(bits) > 1 else "")
                yield f"  assign {target} = {self._value([bits[place] for place in run])};"

    def _instances(self) -> Iterator[str]:
        for name, cell in self._cells.items():
            shown = self._made() if cell["hide_name"] else _escaped(name)
            pins = ",\n".join(f"    .{pin}({self._value(bits)})" for pin, bits in cell["connections"].items())
            yield f"  {cell['type']} {shown} (\n{pins}\n  );"

    def _value(self, bits: Sequence[Bit]) -> str:
        """Bits, the lowest first, as an expression, empty for none; neighbours in a net are one range."""
        parts: list[tuple[str, int | None, int]] = []
        for bit in bits:
            net, place = self._reference(bit)
            if parts and place is not None:
                before, low, width = parts[-1]
                if low is not None and before == net and low + width == place:
                    parts[-1] = (net, low, width + 1)
                    continue
            parts.append((net, place, 1))
        shown = [self._slice(*part) for part in reversed(parts)]
        return f"{{ {', '.join(shown)} }}" if len(shown) > 1 else "".join(shown)

    def _slice(self, net: str, low: int | None, width: int) -> str:
        if low is None:
            return net if net.startswith("1'h") else _escaped(net)
        if low == 0 and width == len(self._nets[net]):
            return _escaped(net)
        return f"{_escaped(net)}[{low + width - 1}:{low}]" if width > 1 else f"{_escaped(net)}[{low}]"

    def _reference(self, bit: Bit) -> tuple[str, int | None]:
        if not isinstance(bit, int):
            return f"1'h{bit}", None
        if bit not in self._names:
            self._names[bit] = (self._made(), None)
        return self._names[bit]

    def _made(self) -> str:
        return f"_{next(self._numbers):06}_"


def _shown(net: str, record: Mapping[str, Any]) -> str | None:
    """What a net is called in the source, or after its memory; None for one that mapping made."""
    if not record["hide_name"]:
        return net
    read = _READ.fullmatch(net)
    return f"{read[1]}.read{read[2]}" if read else None


def _declared(net: str, bits: Sequence[Bit]) -> str:
    return _escaped(net) if len(bits) == 1 else f"[{len(bits) - 1}:0] {_escaped(net)}"


def _escaped(name: str) -> str:
    return name if _WORD.fullmatch(name) else f"\\{name} "
