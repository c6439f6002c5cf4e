"""The power of each cell of a netlist, by OpenSTA."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rackwright.power.saif import Signal
from rackwright.power.wires import Wire, Wires
from rackwright.synthesis import sta
from rackwright.synthesis.flow import Design, Gates
from rackwright.synthesis.library import CACHE, Library
from rackwright.synthesis.macros import macro_library
from rackwright.synthesis.process import Process

_PERIOD = 100.0
"""The cycle that OpenSTA is asked for, in the library's time: energies do not depend on it."""

_DOUBLED = 2
"""OpenSTA (20191111) counts the energies of both edges, rise and fall, for each change of a pin."""

_CELL = re.compile(r"^ *(\S+) +(\S+) +(\S+) +\S+ (\S+)$", re.MULTILINE)
_TOTAL = re.compile(r"^Total +(\S+) +(\S+) +(\S+)", re.MULTILINE)

_ACTIVITY = """proc a {path changes ones} {
  foreach pin [get_pins $path] { sta::set_power_pin_activity $pin $changes $ones }
}"""


@dataclass(frozen=True)
class Energy:
    """Picojoules in a cycle, in the library that the cells are of."""

    switching: float
    internal: float


@dataclass(frozen=True)
class CellEnergies:
    """The energy of each cell by its path, and what the clock takes within all of them."""

    cells: dict[str, Energy]
    idle: float


def cell_energies(
    design: Design,
    gates: Gates,
    wires: Wires,
    signals: Mapping[Wire, Signal],
    library: Library,
    process: Process,
) -> CellEnergies:
    """What the cells take when wires change as `signals` say; other wires stay as they are."""
    with tempfile.TemporaryDirectory(prefix="power-", dir=CACHE) as name:
        folder = Path(name)
        macros = folder / "macros.lib"
        macros.write_text(macro_library(gates.macros.values(), process, library), encoding="utf-8")
        files = sorted({str(part.netlist) for part in gates.netlist.parts.values()})
        script = [
            f"read_liberty {library.path}",
            f"read_liberty {macros}",
            *(f"read_verilog {file}" for file in files),
            f"link_design {gates.netlist.top}",
            *(f"create_clock -name {each} -period {_PERIOD} [get_ports {each}]" for each in design.clocks),
            "sta::set_power_input_activity 0 0",
            _ACTIVITY,
            *_activities(wires, signals, clocks={wires.inputs[each] for each in design.clocks}),
            "report_power -instances [get_cells -hierarchical *] -digits 9",
            "sta::set_power_global_activity 0 0",
            "report_power -digits 9",
        ]
        text = sta.evaluate(script, folder, "power")
    unit = _PERIOD * library.liberty.time_nanoseconds * 1000
    wanted = {gate.path for gate in wires.gates}
    cells = {
        path: Energy(float(switching) * unit, float(internal) * unit / _DOUBLED)
        for internal, switching, _, path in _CELL.findall(text)
        if path in wanted
    }
    (idle,) = _TOTAL.findall(text)
    return CellEnergies(cells, float(idle[0]) * unit / _DOUBLED)


def _activities(wires: Wires, signals: Mapping[Wire, Signal], clocks: set[Wire]) -> Iterator[str]:
    """A line for each pin that changes, but for the clock's, which OpenSTA knows of itself."""
    for gate in wires.gates:
        for pin, wire in gate.pins.items():
            signal = signals.get(wire)
            if signal is not None and signal.changes > 0 and wire not in clocks:
                yield f"a {{{gate.path}/{pin}}} {signal.changes:.9g} {signal.ones:.9g}"
