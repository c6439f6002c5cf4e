"""Memory macros as the timing engine sees them: Liberty cells made by the rules of the process."""

from __future__ import annotations

from collections.abc import Iterable

from rackwright.synthesis.library import Library
from rackwright.synthesis.memories import Memory
from rackwright.synthesis.process import Macro, Process
from rackwright.synthesis.verilog import Port


def macro_of(memory: Memory, process: Process) -> Macro:
    """The macro that a memory is made of."""
    assert memory.macro_ports is not None
    return process.macro(memory.depth, memory.width, memory.macro_ports)


def macro_library(memories: Iterable[Memory], process: Process, library: Library) -> str:
    """A Liberty of these memories, in the units and the speed of `library`."""
    cells, widths = [], set()
    for memory in memories:
        timing = _Timing(macro_of(memory, process), process, library)
        cells.append(timing.cell(memory))
        widths |= {port.width for port in memory.module.ports if port.width}
    types = [
        f"type(bits{width}) {{ base_type : array; data_type : bit; bit_width : {width}; "
        f"bit_from : {width - 1}; bit_to : 0; }}"
        for width in sorted(widths)
    ]
    return "\n".join(["library(macros) {", library.liberty.header, *types, *cells, "}", ""])


class _Timing:
    """Times of one macro, in the unit of time of the library that the logic is mapped to."""

    def __init__(self, macro: Macro, process: Process, library: Library) -> None:
        fo4 = library.fo4 / library.liberty.time_nanoseconds
        self._access = macro.access_picoseconds / process.fo4_picoseconds * fo4
        self._setup = macro.setup_picoseconds / process.fo4_picoseconds * fo4
        self._slew = fo4
        self._load = 2 * max(library.liberty.driver.capacitances.values())

    def cell(self, memory: Memory) -> str:
        pins = "\n".join(self._pin(port) for port in memory.module.ports)
        return f"cell({memory.module.name}) {{ area : 0;\n{pins}\n}}"

    def _pin(self, port: Port) -> str:
        group = "bus" if port.width else "pin"
        # The type comes first: OpenSTA gives what stands before it to the bus and not to its bits.
        parts = [f"bus_type : bits{port.width};"] if port.width else []
        parts.append(f"direction : {port.direction};")
        clock = f"{port.name.split('_')[0]}_clk"
        if port.direction == "output":
            parts.append(self._arc(clock))
        else:
            parts.append(f"capacitance : {self._load:.6f};")
            parts.append("clock : true;" if port.name == clock else self._check(clock))
        return f"  {group}({port.name}) {{ {' '.join(parts)} }}"

    def _check(self, clock: str) -> str:
        values = f'{{ values("{self._setup:.6f}"); }}'
        return (
            f'timing() {{ related_pin : "{clock}"; timing_type : setup_rising; '
            f"rise_constraint(scalar) {values} fall_constraint(scalar) {values} }}"
        )

    def _arc(self, clock: str) -> str:
        delay, slew = (f'{{ values("{value:.6f}"); }}' for value in (self._access, self._slew))
        return (
            f'timing() {{ related_pin : "{clock}"; timing_type : rising_edge; timing_sense : non_unate; '
            f"cell_rise(scalar) {delay} cell_fall(scalar) {delay} "
            f"rise_transition(scalar) {slew} fall_transition(scalar) {slew} }}"
        )
