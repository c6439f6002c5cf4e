"""Files for other tools besides the Verilog: clock constraints, and a FuseSoC core file."""

from __future__ import annotations

from collections.abc import Sequence

import yaml

from rackwright.soc.value import Soc

_IN_TIME = 0.2
"""The part of a period that pins have outside the chip."""


def constraints(soc: Soc) -> str:
    """The clock in SDC, in nanoseconds."""
    period = 1e9 / soc.clock_hz
    outside = f"{_IN_TIME * period:.4f} -clock clock"
    return (
        f"# {soc.top} at {soc.clock_hz / 1e9:g} GHz, in nanoseconds.\n"
        f"create_clock -name clock -period {period:.4f} [get_ports clock]\n"
        f"set_input_delay {outside} [remove_from_collection [all_inputs] [get_ports clock]]\n"
        f"set_output_delay {outside} [all_outputs]\n"
        "set_false_path -from [get_ports interrupts]\n"
    )


def core_file(soc: Soc, files: Sequence[str], included: Sequence[str], harness: Sequence[str]) -> str:
    """A core of FuseSoC (CAPI 2) with a target for lint and one that builds the simulator.

    `included` are files that `files` include.
    """
    beside = [{name: {"is_include_file": True}} for name in included]
    sources = [name for name in harness if name.endswith(".cpp")]
    headers = [{name: {"is_include_file": True}} for name in harness if not name.endswith(".cpp")]
    options = ["--assert", "--no-timing", "-Wno-fatal", "-Wno-lint", "--x-assign", "0"]
    core = {
        "name": f"rackwright:soc:{soc.name}:1.0.0",
        "description": f"{soc.top}, composed by rw soc",
        "filesets": {
            "rtl": {"files": [*beside, *files], "file_type": "systemVerilogSource"},
            "harness": {"files": [*sources, *headers], "file_type": "cppSource"},
        },
        "targets": {
            "default": {"filesets": ["rtl"], "toplevel": soc.top},
            "simulation": {
                "default_tool": "verilator",
                "filesets": ["rtl", "harness"],
                "toplevel": soc.top,
                "tools": {"verilator": {"mode": "cc", "verilator_options": options}},
            },
        },
    }
    return "CAPI=2:\n" + yaml.safe_dump(core, sort_keys=False)
