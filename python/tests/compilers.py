"""The compiler of the programs on the simulated cores."""

from __future__ import annotations

import subprocess


def compiler_version() -> int:
    """The version of the compiler of the programs on the simulated cores, whose cycles depend on it."""
    command = ["riscv64-linux-gnu-gcc", "-dumpversion"]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split(".")[0])
