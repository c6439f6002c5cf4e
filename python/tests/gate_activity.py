"""Units in gates whose every pin is counted in a run, and their power: what propagation is compared with."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from rackwright.power.energy import MappedDesign, Power, power_in, power_of
from rackwright.power.propagation import propagate
from rackwright.power.saif import read_activity
from rackwright.power.wires import Gate, Wires, wires_of
from rackwright.synthesis.flow import CELLS_FILE, gates_of, read_design
from rackwright.synthesis.library import Library, load_library
from rackwright.synthesis.process import load_power_rules, load_process
from rackwright.synthesis.simulation import write_gates

_MADE_UP = re.compile(r"\b_(\d+)_(?!\w)")
"""A name that the mapper has made up. Verilator does not count what begins with an underscore."""

CLOCK_HZ = 1_000_000_000

Run = Callable[[Path, Path], None]
"""Runs the unit of a manifest, and writes the file of its activity."""


def powers(rtl: Path, folder: Path, run: Run) -> tuple[Power, Power]:
    """The power of a unit in a run: by what follows from its RTL, and by every pin of its gates."""
    library, process, rules = load_library(), load_process(), load_power_rules()
    design = read_design(rtl)
    run(rtl, folder / "rtl.saif")
    activity = read_activity(folder / "rtl.saif", design.top)
    estimated = power_of(design, activity, CLOCK_HZ, library, process, rules)

    run(_counted_gates(rtl, library, folder / "gates"), folder / "gates.saif")
    counted = read_activity(folder / "gates.saif", design.top)
    assert counted.cycles == activity.cycles
    gates = gates_of(design, library, process)
    wires = _by_pins(wires_of(gates.netlist, gates.macros), library)
    outputs = [gate.pins[pin] for gate in wires.gates for pin in _driven(gate, library)]
    assert [wires.names[wire] for wire in outputs if wires.names[wire][0] not in counted.signals] == []
    found = propagate(wires, counted, library.liberty)
    mapped = MappedDesign(design, gates, wires)
    return estimated, power_in(mapped, found, counted.cycles, CLOCK_HZ, library, process, rules)


def _counted_gates(rtl: Path, library: Library, folder: Path) -> Path:
    """The manifest of the unit in gates, in which every instance has a name that is counted."""
    manifest = write_gates(rtl, library, load_process(), folder)
    for name in json.loads(manifest.read_text(encoding="utf-8"))["verilog"]:
        if name != CELLS_FILE and name.endswith(".v"):
            file = folder / name
            file.write_text(_MADE_UP.sub(r"made_up_\1", file.read_text(encoding="utf-8")), encoding="utf-8")
    return manifest


def _by_pins(wires: Wires, library: Library) -> Wires:
    """The same wires, each called by the output pin that drives it; others as the source calls them."""
    names = {wire: list(known) for wire, known in wires.names.items()}
    for gate in wires.gates:
        path = ".".join(_MADE_UP.sub(r"made_up_\1", part) for part in gate.path.split("/"))
        for pin in _driven(gate, library):
            names[gate.pins[pin]] = [f"{path}.{pin}"]
    return replace(wires, names=names)


def _driven(gate: Gate, library: Library) -> list[str]:
    """The pins by which a gate drives a wire."""
    return [pin for pin in library.liberty.cells[gate.cell].functions if pin in gate.pins]
