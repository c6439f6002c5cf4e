"""The commands for OpenSTA, and the parsing of its output."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from rackwright.errors import RackwrightError
from rackwright.synthesis.tools import program, run

_ARRIVAL = re.compile(r"^\s*(-?[\d.]+)\s+data arrival time", re.MULTILINE)


def evaluate(script: Sequence[str], folder: Path, name: str) -> str:
    """The output of OpenSTA for these commands. The script and its output stay in `folder`."""
    path = folder / f"{name}.tcl"
    path.write_text("\n".join([*script, "exit", ""]), encoding="utf-8")
    return run([program("sta"), "-no_splash", "-exit", str(path)], folder / f"{name}.log")


def arrivals(library: Path, netlist: Path, top: str, ports: Sequence[str], folder: Path) -> list[float]:
    """When the latest edge reaches each of the output `ports`, in the library's unit of time."""
    script = [
        f"read_liberty {library}",
        f"read_verilog {netlist}",
        f"link_design {top}",
        "create_clock -name clock -period 1000",
        "set_input_delay -clock clock 0 [all_inputs]",
        "set_output_delay -clock clock 0 [all_outputs]",
        *(f"report_checks -path_delay max -to [get_ports {port}] -digits 6" for port in ports),
    ]
    found = [float(time) for time in _ARRIVAL.findall(evaluate(script, folder, "arrivals"))]
    found = found[::2]
    if len(found) != len(ports):
        raise RackwrightError(f"{library}: OpenSTA finds no path through a chain of inverters")
    return found
