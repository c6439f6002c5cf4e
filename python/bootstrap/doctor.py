"""`rw doctor`: what is installed and missing, and how to get it. Works before any build.

With `--install`, it installs and builds everything that any verb needs, so that the machine can go offline.
"""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import Any

from bootstrap import builds, packages, tools, venv
from bootstrap.console import EXIT_NOT_READY, NotReadyError, fail, say
from bootstrap.paths import ENGINE, HARDWARE, REPOSITORY, VENV
from bootstrap.steps import bring_up_to_date, execute
from bootstrap.tools import Tool

_FIRTOOL = "from rackwright.hardware.designs import elaborate; elaborate('stream-copy')"
"""Chisel fetches firtool when the first unit is elaborated."""


def _tool_row(tool: Tool) -> dict[str, Any]:
    found = tools.find(tool)
    install = "" if found else " ".join(packages.packages_of(tool) or tool.packages[:1])
    return {
        "name": tool.name,
        "needed_for": tool.needed_for,
        "found": found is not None,
        "optional": tool.optional,
        "tests_only": tool.tests_only,
        "version": found.version if found else "",
        "path": found.path if found else "",
        "install": f"apt-get install {install}" if install else "",
    }


def report() -> dict[str, Any]:
    """The output of `doctor --json`; see docs/json.md."""
    tools.find_all(tools.TOOLS)
    rows = [_tool_row(tool) for tool in tools.TOOLS]
    steps = builds.all_steps()
    return {
        "ready": all(row["found"] or row["optional"] or row["tests_only"] for row in rows),
        "ready_for_tests": all(row["found"] or row["optional"] for row in rows),
        "system": platform.platform(),
        "python": platform.python_version(),
        "tools": rows,
        "builds": [
            {"name": step.name, "purpose": step.purpose, "current": step.is_current()} for step in steps
        ],
    }


def _verdict(row: dict[str, Any]) -> str:
    if row["found"]:
        return "ok"
    if row["optional"]:
        return "optional"
    return "for tests" if row["tests_only"] else "MISSING"


def _print_table(state: dict[str, Any]) -> None:
    print(f"{state['system']}, Python {state['python']}\n")
    for row in state["tools"]:
        about = row["version"] if row["found"] else f"get it: {row['install']}"
        print(f"  {_verdict(row):9}  {row['name']:22}  {row['needed_for']:52}  {about}")
    print()
    for build in state["builds"]:
        verdict = "ok" if build["current"] else "to build"
        print(f"  {verdict:9}  {build['name']:22}  {build['purpose']}")
    closing = "ready" if state["ready"] else "not ready: something above is MISSING"
    print(f"\n{closing}; `./rw demo` installs and builds what it can by itself")


def install() -> None:
    """Installs every package and builds every step; raises `NotReadyError` if that is not possible."""
    packages.ensure_tools("test")
    tools.put_cargo_on_path()
    bring_up_to_date(builds.all_steps())
    venv.settle()
    python = str(VENV / "bin" / "python")
    environment = builds.build_environment()
    fetched: list[tuple[str, list[str], Path]] = [
        ("what the engine's tests are compiled from", ["cargo", "fetch", "--locked"], ENGINE),
        ("what the hardware's tests run with", ["mvn", "-q", "-B", "verify", "-DskipTests"], HARDWARE),
        ("the compiler of elaborated units", [python, "-c", _FIRTOOL], REPOSITORY),
        ("Debian's packages for simulated servers", [python, "-m", "rackwright.cli", "image"], REPOSITORY),
    ]
    for what, command, folder in fetched:
        say(f"offline: {what}")
        execute("offline", command, folder, environment)


def main(arguments: list[str]) -> int:
    """Prints the report; the exit status is 0 if all requirements are installed."""
    if "--install" in arguments:
        try:
            install()
        except NotReadyError as error:
            fail(str(error))
            return EXIT_NOT_READY
    state = report()
    if "--json" in arguments:
        print(json.dumps(state, indent=2))
    else:
        _print_table(state)
    return 0 if state["ready"] else EXIT_NOT_READY
