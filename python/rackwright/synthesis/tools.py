"""The programs of synthesis: yosys, ABC and OpenSTA."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from bootstrap import tools
from rackwright.errors import RackwrightError


def program(name: str) -> str:
    """The path of one of them; raises `RackwrightError` with the installation command if any is missing."""
    tool = next(tool for tool in tools.TOOLS if tool.name == name)
    found = tools.find(tool)
    if found is None:
        missing = [each for each in tools.TOOLS if each.name == name or "synth" in each.verbs]
        packages = [
            word for each in missing if not tools.find(each) for word in (each.packages[0], *each.companions)
        ]
        raise RackwrightError(f"{name} is not installed; get it with: apt-get install {' '.join(packages)}")
    return found.path


def run(command: list[str], log: Path, environment: Mapping[str, str] | None = None) -> str:
    """The output of a program, also stored in `log`; raises `RackwrightError` with its error.

    It has the `environment`, or this process's.
    """
    result = subprocess.run(
        command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, env=environment
    )
    text = result.stdout + result.stderr
    log.write_text(text, encoding="utf-8")
    complaints = [line for line in text.splitlines() if line.startswith(("ERROR", "Error"))]
    if result.returncode != 0 or complaints:
        reason = complaints[0] if complaints else f"exit status {result.returncode}"
        raise RackwrightError(f"{Path(command[0]).name}: {reason} ({log})")
    return result.stdout
