"""From the activity of a unit to its power in the process of the rules: by kind and by module."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rackwright.errors import RackwrightError
from rackwright.hardware.designs import ParameterValue
from rackwright.power.cells import CellEnergies, cell_energies
from rackwright.power.propagation import Propagated, propagate
from rackwright.power.saif import Activity, Signal
from rackwright.power.wires import Macro, Wire, Wires, wires_of
from rackwright.synthesis.flow import Design, Gates, Report, gates_of
from rackwright.synthesis.library import Library
from rackwright.synthesis.macros import macro_of
from rackwright.synthesis.process import PowerRules, Process

_VOLTAGE = re.compile(r"\bnom_voltage\s*:\s*\"?([\d.]+)")
_LOAD_UNIT = re.compile(r"capacitive_load_unit\s*\(\s*\"?([\d.]+)\"?\s*,\s*\"?([pf])f\"?\s*\)", re.IGNORECASE)
_MILLIWATTS = 1e-9
"""Of a picojoule a second."""

CLOCK = "clock"
"""The row of the clock's own wires among the modules."""


@dataclass(frozen=True)
class ModulePower:
    """What the cells of a module take, without the modules below it, in milliwatts."""

    module: str
    switching: float
    internal: float
    leakage: float


@dataclass(frozen=True)
class MemoryPower:
    """What a memory of macros takes: `accesses` in a cycle, of all its macros, and milliwatts."""

    memory: str
    accesses: float
    milliwatts: float


@dataclass(frozen=True)
class Power:
    """The power of a unit in a run, over the cycles in which it was clocked; names as in `--json`."""

    unit: str
    parameters: dict[str, ParameterValue]
    rtl_hash: str
    clock_hz: int
    cycles: int
    milliwatts: dict[str, float]
    modules: tuple[ModulePower, ...]
    memories: tuple[MemoryPower, ...]
    counted_share: float
    rules: PowerRules

    @property
    def energy_picojoules(self) -> float:
        """What all cycles of the run took."""
        return self.milliwatts["total"] * self.cycles / (self.clock_hz * _MILLIWATTS)

    def record(self, source: str, operations: int | None) -> dict[str, Any]:
        """What `rw synth --power --json` prints of a run from the file `source` with so many `operations`."""
        row = asdict(self)
        counted = row.pop("counted_share")
        row["activity_source"] = {"file": source, "counted_flops": round(counted, 4)}
        row["operations"] = operations
        energy = self.energy_picojoules / operations if operations else None
        row["energy_picojoules_per_operation"] = energy
        row["scaled_to"] = f"16/22 nm class, {self.rules.volts:g} V"
        return row


def power_of(
    design: Design,
    activity: Activity,
    clock_hz: int,
    library: Library,
    process: Process,
    rules: PowerRules,
    *,
    report: Report = lambda _: None,
) -> Power:
    """Maps a design, and gives its power in a run of this activity at that clock."""
    gates = gates_of(design, library, process, report)
    report("following every wire")
    wires = wires_of(gates.netlist, gates.macros)
    propagated = propagate(wires, activity, library.liberty)
    report("asking for the power of every cell")
    mapped = MappedDesign(design, gates, wires)
    return power_in(mapped, propagated, activity.cycles, clock_hz, library, process, rules)


@dataclass(frozen=True)
class MappedDesign:
    """A design in gates, and the wires between them."""

    design: Design
    gates: Gates
    wires: Wires


def power_in(
    mapped: MappedDesign,
    propagated: Propagated,
    cycles: int,
    clock_hz: int,
    library: Library,
    process: Process,
    rules: PowerRules,
) -> Power:
    """The power of a mapped design whose wires do what `propagated` says, in a run of so many cycles."""
    design, gates, wires = mapped.design, mapped.gates, mapped.wires
    energies = cell_energies(design, gates, wires, propagated.signals, library, process)
    factor = rules_factor(library, rules) * clock_hz * _MILLIWATTS
    modules = (_clock(wires, library, factor), *_modules(wires, energies, library, rules, factor))
    memories = tuple(_memories(wires, gates, propagated.signals, clock_hz, process, rules))
    parts = {
        "switching": sum(row.switching for row in modules),
        "internal": sum(row.internal for row in modules),
        "leakage": sum(row.leakage for row in modules),
        "memories": sum(row.milliwatts for row in memories),
    }
    idle = modules[0].switching + energies.idle * factor + parts["leakage"]
    still = sum(_leakage(gates, macro, process, rules) for macro in wires.macros)
    return Power(
        unit=design.unit,
        parameters=design.parameters,
        rtl_hash=design.rtl_hash,
        clock_hz=clock_hz,
        cycles=cycles,
        milliwatts={**parts, "total": sum(parts.values()), "idle": idle + still},
        modules=modules,
        memories=memories,
        counted_share=propagated.counted_share,
        rules=rules,
    )


def rules_factor(library: Library, rules: PowerRules) -> float:
    """The energy of an event in the process of the rules over that in the library: C V² of a NAND's input."""
    nand = library.liberty.nand
    farads = min(nand.capacitances[pin] for pin in nand.inputs) * _femtofarads(library)
    ours = rules.nand_input_femtofarads * rules.volts**2
    return ours / (farads * _volts(library) ** 2)


def _volts(library: Library) -> float:
    found = _VOLTAGE.search(library.liberty.text)
    if found is None:
        raise RackwrightError(f"{library.name}: has no nom_voltage, which its energies are scaled by")
    return float(found[1])


def _femtofarads(library: Library) -> float:
    """The library's unit of capacitance."""
    found = _LOAD_UNIT.search(library.liberty.text)
    if found is None:
        raise RackwrightError(f"{library.name}: has no capacitive_load_unit, by which energies are scaled")
    return float(found[1]) * (1000.0 if found[2].lower() == "p" else 1.0)


def _clock(wires: Wires, library: Library, factor: float) -> ModulePower:
    """The clock's wires: both edges load the pins of all flops. Its tree of buffers is not in the netlist."""
    cells = library.liberty.cells
    loads = (_clock_load(cells[gate.cell].text, cells[gate.cell].capacitances) for gate in wires.gates)
    picofarads = sum(loads) * _femtofarads(library) / 1000
    return ModulePower(CLOCK, picofarads * _volts(library) ** 2 * factor, 0.0, 0.0)


def _clock_load(text: str, capacitances: Mapping[str, float]) -> float:
    found = re.search(r"clocked_on\s*:\s*\"\s*(\w+)", text)
    return capacitances[found[1]] if found else 0.0


def _modules(
    wires: Wires, energies: CellEnergies, library: Library, rules: PowerRules, factor: float
) -> Iterator[ModulePower]:
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for gate in wires.gates:
        row, energy = sums[gate.piece], energies.cells[gate.path]
        row[0] += energy.switching * factor
        row[1] += energy.internal * factor
        row[2] += library.equivalents(gate.cell) * rules.nand_leakage_nanowatts * 1e-6
    for module, row in sorted(sums.items(), key=lambda item: -sum(item[1])):
        yield ModulePower(module, *row)


def _memories(
    wires: Wires,
    gates: Gates,
    signals: Mapping[Wire, Signal],
    clock_hz: int,
    process: Process,
    rules: PowerRules,
) -> Iterator[MemoryPower]:
    found: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for macro in wires.macros:
        memory = gates.macros[macro.memory]
        accesses = _accesses(macro, memory.copies, signals)
        energy = accesses * rules.access_picojoules(memory.depth, memory.width)
        row = found[macro.memory]
        row[0] += accesses
        row[1] += energy * clock_hz * _MILLIWATTS + _leakage(gates, macro, process, rules)
    for name, (accesses, milliwatts) in sorted(found.items(), key=lambda item: -item[1][1]):
        yield MemoryPower(name, accesses, milliwatts)


def _accesses(macro: Macro, copies: int, signals: Mapping[Wire, Signal]) -> float:
    """Accesses in a cycle: a write goes to every copy."""
    total = 0.0
    for port, (wire, *_) in macro.ports.items():
        kind = re.fullmatch(r"(RW|R|W)\d+_en", port)
        if kind:
            ones = signals[wire].ones if wire in signals else 1.0
            total += ones * (copies if kind[1] == "W" else 1)
    return total


def _leakage(gates: Gates, macro: Macro, process: Process, rules: PowerRules) -> float:
    """Milliwatts of a memory's macros, which leak as logic of their area."""
    memory = gates.macros[macro.memory]
    area = memory.copies * macro_of(memory, process).area_um2
    return area / process.gate_equivalent_um2 * rules.nand_leakage_nanowatts * 1e-6
