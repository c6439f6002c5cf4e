"""The mapped netlist of a design: from an instance to the name that its output has in the Chisel source."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from rackwright.synthesis.mapping import Mapped

_INSTANCE = re.compile(r"^  (\w+) (\\\S+|\w+) *\((.*?)^  \);", re.MULTILINE | re.DOTALL)
_PIN = re.compile(r"\.(\w+)\((.*?)\)", re.DOTALL)
_MADE_UP = re.compile(r"(^|\.)_\d+_")


@dataclass(frozen=True)
class Instance:
    """A cell, a box or a piece within a piece, and the nets of its pins."""

    cell: str
    nets: dict[str, str]


@dataclass(frozen=True)
class _Part:
    mapped: Mapped

    @cached_property
    def instances(self) -> dict[str, Instance]:
        text = self.mapped.netlist.read_text(encoding="utf-8")
        return {
            _plain(name): Instance(cell, {pin: _plain(net) for pin, net in _PIN.findall(pins)})
            for cell, name, pins in _INSTANCE.findall(text)
        }


def _plain(name: str) -> str:
    """A name without characters that Verilog has to escape."""
    return "".join(name.split()).lstrip("\\")


class Netlist:
    """The pieces of a design in gates, with `top` above them."""

    def __init__(self, parts: Mapping[str, Mapped], top: str) -> None:
        self.top = top
        self.parts = parts
        self._opened = {name: _Part(mapped) for name, mapped in parts.items()}

    @cached_property
    def copies(self) -> Counter[str]:
        """The number of instances of each piece, box and cell in the design."""
        counts: Counter[str] = Counter()
        self._count(self.top, 1, counts)
        return counts

    def _count(self, name: str, times: int, counts: Counter[str]) -> None:
        counts[name] += times
        if name in self.parts:
            for cell, count in self.parts[name].cells.items():
                self._count(cell, times * count, counts)

    def instances(self, part: str) -> list[Instance]:
        """All instances in a piece."""
        return list(self._opened[part].instances.values())

    def instance(self, path: str) -> tuple[str, Instance] | None:
        """The piece that a path with slashes leads into, and the instance there; None for a port."""
        part, folders = self.top, path.split("/")
        for folder in folders[:-1]:
            part = self._opened[part].instances[folder].cell
        found = self._opened[part].instances.get(folders[-1])
        return None if found is None else (".".join(folders[:-1]), found)

    def source_name(self, pin: str) -> str | None:
        """The name of the net at a pin, from the top down; None for a net created by mapping."""
        path, _, name = pin.rpartition("/")
        found = self.instance(path) if path else None
        if found is None:
            return pin
        folder, instance = found
        net = instance.nets.get(name, "")
        if not net or _MADE_UP.search(net) or net.startswith(("{", "1'")):
            return None
        return f"{folder}.{net}" if folder else net

    def register(self, pin: str) -> str:
        """The register, memory or port at an end of a path, without the index of a bit."""
        path, _, name = pin.rpartition("/")
        found = self.instance(path) if path else None
        if found is None:
            return re.sub(r"\[\d+\]$", "", pin)
        if "Q" in found[1].nets:
            named = self.source_name(f"{path}/Q") or path
        else:
            named = f"{path.replace('/', '.')}.{name}"
        return re.sub(r"\[\d+\]$", "", named)
