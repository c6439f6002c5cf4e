"""The text of `./rw --help` before anything is installed; afterwards the command line prints its own help."""

from __future__ import annotations

GROUPS = {
    "Begin": {
        "demo": "Compare Snappy on this processor, on simulated cores, and on the same cores with the unit.",
        "docs": "Build the documentation as a site of static files, with search, from this checkout.",
        "doctor": "List what is installed and missing, and how to get it. Works before anything is built.",
    },
    "Hardware units": {
        "units": "List the hardware units: what they do, parameters, commands, registers, ports and status.",
        "accelerate": "Run a unit alone against the memory model on a file, and verify the result.",
        "drx": "Compile kernels that restructure arrays for the unit `drx`, and run them.",
        "protobuf": "Parse and serialize recorded messages, with the official library and with the units.",
        "synth": (
            "Synthesise a unit to gates: logic depth in FO4, the resulting clock and area, and the longest "
            "paths."
        ),
    },
    "Whole chips": {
        "soc": "Compose a whole chip in Verilog of harts, caches, buses and units, and run programs on it.",
        "export": "Write units as folders for third-party SoC generators.",
    },
    "Servers and clusters": {
        "run": (
            "Run a program on a simulated server, or a script that runs a cluster, and report how long it "
            "took."
        ),
        "boot": "Boot Debian's own kernel, with the console in this terminal, or to run one command.",
        "map": ("Show the parts of a server: harts, units, devices, their addresses, interrupts and clocks."),
        "tiles": "Check, draw and place tiles on a mesh, and graphs of services on them.",
        "fabric": (
            "Measure the PCIe fabric of a server: links, switches, and cards whose functions are RTL."
        ),
        "image": "Build an image of Debian 13 for riscv64: firmware, kernel, and the files of packages.",
    },
    "Where the time goes": {
        "profile": (
            "Show where every cycle of a run goes, without affecting the run: stacks, durations, counters."
        ),
        "trace": "Print the executed instructions of a trace.",
    },
    "Measurements and papers": {
        "bench": "Measure the units and the simulation itself.",
        "generate": "Generate benchmark suites from the statistics of a fleet.",
        "explore": "Measure every point of a design space over a suite of calls.",
        "reproduce": "Reproduce figures and tables of papers, and compare.",
    },
    "Real services on UDP, without a simulation": {
        "dispatch": (
            "Balance the load of services on UDP: each request is sent to the least loaded replica."
        ),
        "loadtest": (
            "Put load on services over UDP, or on simulated ones, and measure their response times."
        ),
    },
    "Development of Rackwright": {
        "test": "Run the test suite: formats, lints, types, unit, golden, property and end-to-end tests.",
    },
}
"""The verbs by purpose, each with the first line of its help."""

VERBS = {name: about for verbs in GROUPS.values() for name, about in verbs.items()}
"""All verbs."""


def group_of(verb: str) -> str:
    """The name of the group that has `verb`."""
    return next(group for group, verbs in GROUPS.items() if verb in verbs)


def text() -> str:
    """The usage."""
    width = max(map(len, VERBS))
    groups = [
        f"{group}:\n" + "\n".join(f"  {name:<{width}}  {about}" for name, about in verbs.items())
        for group, verbs in GROUPS.items()
    ]
    verbs = "\n\n".join(groups)
    return (
        "Usage: ./rw VERB [ARGUMENTS]...\n\n"
        "Put RTL units into a server, run real software on it cycle by cycle, and measure the speed-up.\n\n"
        f"{verbs}\n\n"
        "Nothing is installed yet. `./rw doctor` lists what is installed and what is missing; `./rw demo`\n"
        "installs and builds what it needs (README.md states the time) and runs the main comparison.\n"
        "After that, every verb has a page of --help."
    )
