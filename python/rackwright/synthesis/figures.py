"""The figures of a synthesised design: depth, clock, gates, flops, memories and area."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from rackwright.hardware.designs import ParameterValue
from rackwright.synthesis.flow import Synthesised
from rackwright.synthesis.library import Library
from rackwright.synthesis.macros import macro_of
from rackwright.synthesis.memories import Memory
from rackwright.synthesis.process import Process
from rackwright.synthesis.timing import TimedPath


@dataclass(frozen=True)
class ModuleArea:
    """The area of a piece: gate equivalents and flops in all its `copies`, without the pieces below it."""

    module: str
    copies: int
    gate_equivalents: int
    flops: int
    area_mm2: float


@dataclass(frozen=True)
class MacroArea:
    """The macros of a memory: `count` of `depth` words by `width` bits with the ports `ports`."""

    memory: str
    count: int
    depth: int
    width: int
    ports: str
    access_picoseconds: float
    area_mm2: float


@dataclass(frozen=True)
class FlopMemory:
    """A memory that became flops, for its ports or its size."""

    memory: str
    copies: int
    depth: int
    width: int
    ports: str
    synchronous: bool


@dataclass(frozen=True)
class Figures:
    """The synthesis results of a unit; the names are those of `rw synth --json`."""

    unit: str
    parameters: dict[str, ParameterValue]
    rtl_hash: str
    depth_fo4: float
    path_nanoseconds: float
    clock_hz: int
    gate_equivalents: int
    flops: int
    sram_bits: int
    area_mm2: float
    sram_macros: tuple[MacroArea, ...]
    memories_in_flops: tuple[FlopMemory, ...]
    modules: tuple[ModuleArea, ...]
    paths: tuple[TimedPath, ...]
    notes: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        """The row of `rw synth --json`."""
        row = asdict(self)
        row["worst_path"] = row["paths"][0]["points"]
        row["paths"] = [{key: path[key] for key in ("start", "end", "depth_fo4")} for path in row["paths"]]
        return row


def figures(result: Synthesised, library: Library, process: Process) -> Figures:
    """The figures of a design, by the rules of `process`."""
    modules = sorted(_modules(result, library, process), key=lambda row: -row.gate_equivalents)
    macros = tuple(
        _macro(name, memory, result, process) for name, memory in sorted(result.gates.macros.items())
    )
    worst = result.paths[0]
    area = sum(row.area_mm2 for row in modules) + sum(row.area_mm2 for row in macros)
    return Figures(
        unit=result.design.unit,
        parameters=result.design.parameters,
        rtl_hash=result.design.rtl_hash,
        depth_fo4=round(worst.depth_fo4, 2),
        path_nanoseconds=round(worst.nanoseconds, 4),
        clock_hz=process.clock_hz(worst.depth_fo4),
        gate_equivalents=sum(row.gate_equivalents for row in modules),
        flops=sum(row.flops for row in modules),
        sram_bits=sum(row.count * row.depth * row.width for row in macros),
        area_mm2=round(area, 4),
        sram_macros=macros,
        memories_in_flops=tuple(_in_flops(result)),
        modules=tuple(modules),
        paths=tuple(result.paths),
        notes=result.design.notes,
    )


def _modules(result: Synthesised, library: Library, process: Process) -> Iterator[ModuleArea]:
    cells = library.liberty.cells
    for name, mapped in result.gates.netlist.parts.items():
        copies = result.gates.netlist.copies[name]
        own = [(cell, count) for cell, count in mapped.cells.items() if cell in cells]
        equivalents = copies * sum(library.equivalents(cell) * count for cell, count in own)
        flops = copies * sum(count for cell, count in own if cells[cell].is_flop)
        if own:
            area = equivalents * process.gate_equivalent_um2 / 1e6
            yield ModuleArea(name, copies, round(equivalents), flops, area)


def _macro(name: str, memory: Memory, result: Synthesised, process: Process) -> MacroArea:
    macro = macro_of(memory, process)
    count = memory.copies * result.gates.netlist.copies[name]
    return MacroArea(
        name,
        count,
        memory.depth,
        memory.width,
        macro.ports,
        macro.access_picoseconds,
        count * macro.area_um2 / 1e6,
    )


def _in_flops(result: Synthesised) -> Iterator[FlopMemory]:
    """The relevant memories, largest first: those that would be macros except for their ports."""
    for name, memory in sorted(result.gates.flop_memories.items(), key=lambda item: -item[1].bits):
        copies = result.copies_of(name)
        if copies and memory.bits >= 1024:
            yield FlopMemory(name, copies, memory.depth, memory.width, memory.ports, memory.synchronous)
