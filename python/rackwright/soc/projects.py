"""Files for other tools besides the Verilog: clock constraints, and a FuseSoC core file."""

from __future__ import annotations

from collections.abc import Sequence

import yaml

from rackwright.soc.value import Soc

_IN_TIME = 0.2
"""The part of a period that pins have outside the chip."""

JTAG_HZ = 10_000_000
"""The clock of JTAG: below that of every chip, and what probes reach."""


def jtag_clocks(soc: Soc) -> list[tuple[str, str]]:
    """The pins of clock and reset for JTAG, of each system."""
    pins = ("debug_systemjtag_jtag_TCK", "debug_systemjtag_reset")
    return [(f"{prefix}{pins[0]}", f"{prefix}{pins[1]}") for prefix in soc.prefixes if soc.debug]


def constraints(soc: Soc) -> str:
    """The clocks in SDC, in nanoseconds."""
    period = 1e9 / soc.clock_hz
    outside = f"{_IN_TIME * period:.4f} -clock clock"
    clocks = {"clock": period, **{pin: 1e9 / JTAG_HZ for pin, _ in jtag_clocks(soc)}}
    lines = [f"# {soc.top} at {soc.clock_hz / 1e9:g} GHz, in nanoseconds."]
    lines += [f"create_clock -name {pin} -period {of:.4f} [get_ports {pin}]" for pin, of in clocks.items()]
    if len(clocks) > 1:
        lines.append("set_clock_groups -asynchronous " + " ".join(f"-group {pin}" for pin in clocks))
    pins = f"[get_ports {{{' '.join(clocks)}}}]"
    lines += [
        f"set_input_delay {outside} [remove_from_collection [all_inputs] {pins}]",
        f"set_output_delay {outside} [all_outputs]",
        "set_false_path -from [get_ports interrupts]",
    ]
    return "".join(f"{line}\n" for line in lines)


def core_file(soc: Soc, files: Sequence[str], included: Sequence[str], harness: Sequence[str]) -> str:
    """A core of FuseSoC (CAPI 2) with a target for lint and one that builds the simulator.

    `included` are files that `files` include.
    """
    beside = [{name: {"is_include_file": True}} for name in included]
    sources = [name for name in harness if name.endswith(".cpp")]
    headers = [{name: {"is_include_file": True}} for name in harness if not name.endswith(".cpp")]
    options = ["--assert", "--no-timing", "-Wno-fatal", "-Wno-lint", "--x-assign", "0"]
    options += ["--max-num-width", "1048576"]
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
