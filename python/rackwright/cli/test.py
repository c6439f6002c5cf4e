"""`rw test`: the test suite, or a selected part of it."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from bootstrap.paths import BUILD, LOGS
from rackwright.benchmarks.mesh import SMALL
from rackwright.cli.output import EXIT_FAILED, messages, print_table
from rackwright.hardware.designs import elaborate
from rackwright.hardware.rocket_verilog import rocket_verilog
from rackwright.hardware.toolchain import OF_TESTS, OPTIMISATION, compiler, verilator_root
from rackwright.testing.checks import Outcome, lanes, run_lanes
from rackwright.testing.imports import files_of_tests
from rackwright.testing.processor import ProcessorTime
from rackwright.testing.remembered import State, forget, passed_before, remember, without
from rackwright.testing.selection import EVERYTHING, Selection, affected, changed_since, named

CROSSBAR: dict[str, int | str] = {"ports": 5}
"""Parameters of the crossbar of tests: four harts and memory."""

LONG_RANDOM_PROGRAMS = "2000"
"""Random programs that a long run compares with QEMU."""


def _environment(long: bool) -> dict[str, str]:
    """Environment of tests that are not Python: the paths of tools and designs, and the amount of testing."""
    return {
        **os.environ,
        "RACKWRIGHT_LONG": "1" if long else "0",
        "RACKWRIGHT_VERILATOR_ROOT": str(verilator_root()),
        "RACKWRIGHT_CXX": compiler(),
        "RACKWRIGHT_ROCKET_VERILOG": str(rocket_verilog()),
        "RACKWRIGHT_MESH": str(elaborate("mesh", SMALL.parameters(), assertions=True)),
        "RACKWRIGHT_CROSSBAR": str(elaborate("crossbar", CROSSBAR, assertions=True)),
        "RACKWRIGHT_DESIGNS": str(BUILD / "designs"),
        **({"RACKWRIGHT_RANDOM_PROGRAMS": LONG_RANDOM_PROGRAMS} if long else {OPTIMISATION: OF_TESTS}),
    }


def _selected(words: list[str], changed: bool) -> Selection:
    if changed and len(words) > 1:
        raise typer.BadParameter("--changed takes one revision of Git", param_hint="PATH|NAME")
    if changed:
        return affected(changed_since(words[0] if words else "HEAD"))
    return named(words, Path.cwd()) if words else EVERYTHING


def _made() -> dict[str, int]:
    """Numbers of artifacts of each kind that tests have compiled so far."""
    folders = {"designs elaborated": "elaborated/*/manifest.json", "designs compiled": "designs/*.so"}
    return {kind: len(list(BUILD.glob(pattern))) for kind, pattern in folders.items()}


def _print_summary(outcomes: list[Outcome], time: ProcessorTime, before: dict[str, int]) -> None:
    rows = [
        (outcome.check.name, "passed" if outcome.passed else "FAILED", f"{outcome.seconds:.1f} s")
        for outcome in outcomes
    ]
    used = [(kind, f"{seconds:.0f} s") for kind, seconds in time.by_kind() if seconds >= 1]
    print_table([("processor time", "left"), ("", "right")], used)
    made = ", ".join(f"{count - before[kind]} {kind}" for kind, count in _made().items())
    messages.print(f"compiled for these tests: {made}", highlight=False)
    print_table([("check", "left"), ("result", "left"), ("time", "right")], rows)


def _run(selection: Selection, long: bool, passed: Path | None = None) -> list[Outcome]:
    """Runs what is selected and says how it went; writes to `passed` which files of tests have passed."""
    LOGS.mkdir(parents=True, exist_ok=True)
    environment = _environment(long)
    time, before = ProcessorTime(), _made()
    with time.observed():
        outcomes = run_lanes(lanes(long, selection, passed), environment)
    _print_summary(outcomes, time, before)
    return outcomes


def run_all(long: bool, again: bool) -> list[Outcome]:
    """Runs everything but the files of tests that would pass again; all of them when `again`."""
    now = State.now()
    known = passed_before(now, long) if now and not again else frozenset()
    with tempfile.TemporaryDirectory() as folder:
        passed = Path(folder) / "passed.json"
        outcomes = _run(without(EVERYTHING, known), long, passed)
        files = json.loads(passed.read_text(encoding="utf-8")) if passed.exists() else []
    if now:
        remember(now, long, known.union(files))
    if known:
        all_of_them = len(files_of_tests())
        messages.print(
            f"{len(known)} of {all_of_them} files of tests passed before, and nothing has changed that "
            "they depend on: not run (./rw test --all runs them)",
            highlight=False,
        )
    return outcomes


def _run_selected(selection: Selection, long: bool) -> list[Outcome]:
    """Runs what is selected, whatever passed before."""
    outcomes = _run(selection, long)
    if any(outcome.check.name == "pytest" and not outcome.passed for outcome in outcomes):
        forget(selection.tests, long)
    return outcomes


def test(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH|NAME…]",
            help="Only these: files, crates, parts of tests' names; with --changed a revision of Git.",
        ),
    ] = None,  # noqa: PT028 (a verb, not a test)
    changed: Annotated[
        bool,
        typer.Option(
            "--changed",
            help="Only tests that can be affected by changes since a revision (default: the last commit).",
        ),
    ] = False,  # noqa: PT028
    everything: Annotated[
        bool,
        typer.Option("--all", help="Also tests that passed before and that no change since then can affect."),
    ] = False,  # noqa: PT028
    long: Annotated[
        bool,
        typer.Option(
            "--long",
            help="Also the long runs: a million mutated inputs through the RTL, 2000 examples per property.",
        ),
    ] = False,  # noqa: PT028
) -> None:
    """Run the test suite: formats, lints, types, unit, golden, property and end-to-end tests.

    Every part runs, whether or not one before it failed. At the end, it lists the slowest tests and the
    distribution of processor time. The exit status is 0 when all passed.

    Without arguments, a file of tests of pytest is left out when it has passed before and nothing has changed
    since that it depends on: by the rules of --changed, and the system, its tools and the environment are the
    same. How many are left out is said at the end.

    Examples:
        ./rw test

        ./rw test --long

        ./rw test python/tests/test_streaming.py

        ./rw test rackwright-memory every_alignment

        ./rw test --changed main

    """
    selection = _selected(words or [], changed)
    outcomes = _run_selected(selection, long) if words or changed else run_all(long, everything)
    passed = sum(outcome.passed for outcome in outcomes)
    failed = len(outcomes) - passed
    messages.print(f"checks: {passed} passed, {failed} failed", highlight=False)
    if failed:
        raise typer.Exit(EXIT_FAILED)
