"""`rw test`: the whole test suite."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from bootstrap.paths import ENGINE, HARDWARE, LOGS, PYTHON
from rackwright.cli.output import EXIT_FAILED, messages, print_table
from rackwright.rocket_verilog import rocket_verilog
from rackwright.toolchain import compiler, verilator_root

LONG_RANDOM_PROGRAMS = "2000"
"""Random programs that a long run compares with QEMU."""

MOST_PROCESSES = 4
"""Processes that tests run in at most: each compiles designs and keeps guests of a GiB or two."""


@dataclass(frozen=True)
class Check:
    """One part of the suite: a command that says by its exit status whether it passed.

    The output of a quiet one is shown only when it fails. `environment` is what it needs beside that of all.
    """

    name: str
    command: tuple[str, ...]
    folder: Path
    quiet: bool = True
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """How a check ended and how long it took."""

    check: Check
    passed: bool
    seconds: float


def stages(long: bool) -> list[list[list[Check]]]:
    """The suite: stages one after the other, each of lanes that run at the same time, each of checks.

    Compiling Rust and testing blocks of hardware leave parts of a second core to each other; what pytest runs
    takes all. It comes last because it runs everything together.
    """
    clippy = ("cargo", "clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings")
    config = ("--config", "pyproject.toml")
    ignored = ("--", "--include-ignored") if long else ()
    cargo_test = ("cargo", "test", "--workspace", "--locked", "--quiet", "--no-fail-fast", *ignored)
    # Tests of a file share what they set up, so that a file is done by one process.
    shared = ("-n", str(min(os.cpu_count() or 1, MOST_PROCESSES)), "--dist", "loadfile")
    pytest = ("pytest", *shared, *(() if long else ("-m", "not long")))
    python = [
        Check("ruff", ("ruff", "check", ".", "../examples", *config), PYTHON),
        Check("ruff format", ("ruff", "format", "--check", ".", "../examples", *config), PYTHON),
        Check("mypy", ("mypy",), PYTHON),
    ]
    rust = [
        Check("cargo fmt", ("cargo", "fmt", "--check"), ENGINE),
        Check("cargo clippy", clippy, ENGINE),
        Check("cargo test", cargo_test, ENGINE),
    ]
    blocks = Check("mvn verify", ("mvn", "-q", "-B", "verify"), HARDWARE, environment=_for_blocks())
    return [[python], [rust, [blocks]], [[Check("pytest", pytest, PYTHON, quiet=False)]]]


def _for_blocks() -> dict[str, str]:
    """Where tests of single blocks find Verilator, and a compiler for what it writes."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), str(verilator_root() / "bin")])
    return {"PATH": path, "MAKEFLAGS": f"CXX={compiler()}"}


def run_check(check: Check, environment: Mapping[str, str]) -> Outcome:
    """Runs one check and says how it went."""
    messages.print(f"[bold]{check.name}[/bold]: {' '.join(check.command)}", highlight=False)
    start = time.monotonic()
    log = LOGS / f"test-{check.name.replace(' ', '-')}.log"
    with open(log, "wb") as sink:
        result = subprocess.run(
            check.command,
            cwd=check.folder,
            env={**environment, **check.environment},
            stdin=subprocess.DEVNULL,
            stdout=sink if check.quiet else None,
            stderr=subprocess.STDOUT if check.quiet else None,
            check=False,
        )
    outcome = Outcome(check, result.returncode == 0, time.monotonic() - start)
    if check.quiet and not outcome.passed:
        print(log.read_text(encoding="utf-8", errors="replace"))
    return outcome


def run_lanes(lanes: Sequence[Sequence[Check]], environment: Mapping[str, str]) -> list[Outcome]:
    """Runs the checks of each lane one after the other, and the lanes at the same time."""
    with ThreadPoolExecutor(len(lanes)) as pool:
        run = pool.map(lambda lane: [run_check(check, environment) for check in lane], lanes)
        return [outcome for outcomes in run for outcome in outcomes]


def _environment(long: bool) -> dict[str, str]:
    """What tests that are not Python need to know: where tools are, and how much to do."""
    return {
        **os.environ,
        "RACKWRIGHT_LONG": "1" if long else "0",
        "RACKWRIGHT_VERILATOR_ROOT": str(verilator_root()),
        "RACKWRIGHT_CXX": compiler(),
        "RACKWRIGHT_ROCKET_VERILOG": str(rocket_verilog()),
        **({"RACKWRIGHT_RANDOM_PROGRAMS": LONG_RANDOM_PROGRAMS} if long else {}),
    }


def test(
    long: Annotated[
        bool,
        typer.Option(
            "--long",
            help="Also the long runs: a million mutated inputs through the RTL, 2000 examples per property.",
        ),
    ] = False,  # noqa: PT028 (a verb, not a test)
) -> None:
    """Run the whole test suite: formats, lints, types, unit, golden, property and end-to-end tests.

    Every part runs, whether or not one before it failed. The exit status is 0 when all passed.

    Examples:
        ./rw test

        ./rw test --long

    """
    LOGS.mkdir(parents=True, exist_ok=True)
    environment = _environment(long)
    outcomes = [outcome for lanes in stages(long) for outcome in run_lanes(lanes, environment)]
    rows = [
        (outcome.check.name, "passed" if outcome.passed else "FAILED", f"{outcome.seconds:.1f} s")
        for outcome in outcomes
    ]
    print_table([("check", "left"), ("result", "left"), ("time", "right")], rows)
    passed = sum(outcome.passed for outcome in outcomes)
    messages.print(f"{passed} of {len(outcomes)} checks passed", highlight=False)
    if passed < len(outcomes):
        raise typer.Exit(EXIT_FAILED)
