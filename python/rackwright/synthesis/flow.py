"""Synthesis of one design, from its Verilog to its figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from rackwright.errors import RackwrightError
from rackwright.hardware.designs import Elaboration, ParameterValue, elaborate_all
from rackwright.hardware.manifests import is_elaborated, main_clock, read_manifest
from rackwright.synthesis.front_end import read
from rackwright.synthesis.library import Library
from rackwright.synthesis.macros import macro_library
from rackwright.synthesis.mapping import map_pieces
from rackwright.synthesis.memories import LEAST_ALONE, Memory, recognise, sliced
from rackwright.synthesis.netlist import Netlist
from rackwright.synthesis.pieces import Piece, cut
from rackwright.synthesis.process import Process
from rackwright.synthesis.timing import TimedPath, longest_paths
from rackwright.synthesis.verilog import Module, modules

CELLS_FILE = "cells.v"
"""The library's cells among the files of a design in gates."""

Report = Callable[[str], None]
"""Called with the current step."""


@dataclass(frozen=True)
class Design:
    """The synthesised design: a unit with its parameters, the hash of its RTL, its modules and the top one.

    `clocks` are the inputs that clock it, the one of its ports first. Paths between two clocks are not timed,
    and neither are those from `reset`. `notes` list differences between gates and source.
    """

    unit: str
    parameters: dict[str, ParameterValue]
    rtl_hash: str
    modules: Mapping[str, Module]
    top: str
    clocks: tuple[str, ...] = ("clock",)
    reset: str | None = "reset"
    notes: tuple[str, ...] = ()

    @cached_property
    def copies(self) -> Counter[str]:
        """The number of instances of each module in the design."""
        counts: Counter[str] = Counter({self.top: 1})
        # A module precedes those that instantiate it, so that those are counted first.
        for name in reversed(list(self.modules)):
            for child, count in self.modules[name].children.items():
                counts[child] += counts[name] * count
        return counts


@dataclass(frozen=True)
class Gates:
    """A design in gates: its netlist, and its memories as macros and as flops."""

    netlist: Netlist
    macros: dict[str, Memory]
    flop_memories: dict[str, Memory]


@dataclass(frozen=True)
class Synthesised:
    """A design, its gates, and its longest paths."""

    design: Design
    gates: Gates
    paths: list[TimedPath]

    def copies_of(self, module: str) -> int:
        """The number of instances of a source module in the design."""
        return self.design.copies[module]


def load_designs(wanted: Sequence[Elaboration]) -> list[Design]:
    """Elaborates units of hardware/, in one go."""
    return [read_design(manifest) for manifest in elaborate_all(wanted)]


def read_design(manifest: Path, parameters: Mapping[str, ParameterValue] | None = None) -> Design:
    """The design of a manifest; `parameters` are those of a user's top module, and override the manifest.

    Raises `RackwrightError` when there is none, or one that is in gates.
    """
    try:
        record = read_manifest(manifest)
        if CELLS_FILE in record["verilog"]:
            raise RackwrightError(
                f"{manifest}: is already a gate netlist; synthesise the unit that it was made from"
            )
        if not is_elaborated(record):
            return _own_design(manifest, record, {**record.get("parameters", {}), **(parameters or {})})
        if parameters:
            raise RackwrightError(
                f"{manifest}: is already elaborated; its parameters are fixed: {', '.join(parameters)}"
            )
        text = "\n".join((manifest.parent / file).read_text(encoding="utf-8") for file in record["verilog"])
    except OSError as error:
        raise RackwrightError(f"{manifest}: not the manifest of a unit: {error}") from error
    return Design(record["unit"], record["parameters"], record["hash"], modules(text), record["top"])


def _own_design(manifest: Path, record: Mapping[str, Any], parameters: dict[str, ParameterValue]) -> Design:
    """The design of a manifest that the elaborator has not written."""
    found = read(manifest, parameters)
    pins = [clock["pin"] for clock in record["clocks"]]
    clocks = (*pins, *(each for each in found.clocks if each not in pins))
    notes = found.notes
    if len(clocks) > 1:
        notes += (f"paths between the clocks {' and '.join(clocks)} are not timed",)
    return Design(
        record["unit"],
        parameters,
        found.rtl_hash,
        found.modules,
        record["top"],
        clocks,
        main_clock(record)["reset"],
        notes,
    )


@dataclass(frozen=True)
class _Parts:
    """The mapped parts of a design, and the boxes."""

    memories: dict[str, Memory]
    macros: dict[str, Memory]
    pieces: list[Piece]


def _parts(design: Design, process: Process) -> _Parts:
    memories = {name: memory for name, module in design.modules.items() if (memory := recognise(module))}
    macros = {name: memory for name, memory in memories.items() if memory.is_macro(process)}
    modules: dict[str, Module] = dict(design.modules)
    alone: set[str] = set()
    for name, memory in memories.items():
        if name not in macros and memory.bits >= LEAST_ALONE:
            columns = sliced(memory)
            modules |= {module.name: module for module in columns}
            alone |= {module.name for module in columns}
    return _Parts(memories, macros, cut(modules, design.top, frozenset(macros), frozenset(alone)))


def map_designs(
    designs: Iterable[Design], library: Library, process: Process, report: Report = lambda _: None
) -> None:
    """Maps the pieces of several designs, each once, so that `synthesise` finds them mapped."""
    map_pieces([piece for design in designs for piece in _parts(design, process).pieces], library, report)


def gates_of(design: Design, library: Library, process: Process, report: Report = lambda _: None) -> Gates:
    """Maps a design."""
    parts = _parts(design, process)
    mapped = map_pieces(parts.pieces, library, report)
    netlist = Netlist({piece.name: piece for piece in mapped}, design.top)
    macros = {name: memory for name, memory in parts.macros.items() if netlist.copies[name]}
    flops = {name: memory for name, memory in parts.memories.items() if name not in parts.macros}
    return Gates(netlist, macros, flops)


def synthesise(
    design: Design,
    library: Library,
    process: Process,
    *,
    paths: int = 10,
    report: Report = lambda _: None,
) -> Synthesised:
    """Maps a design and finds its longest paths, one for each of `paths` registers."""
    gates = gates_of(design, library, process, report)
    report("looking for the longest paths")
    macros = macro_library(gates.macros.values(), process, library)
    return Synthesised(
        design, gates, longest_paths(gates.netlist, macros, library, paths, design.clocks, design.reset)
    )
