"""The checks of the test suite: commands that pass or fail, in lanes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from bootstrap.paths import BUILD, ENGINE, HARDWARE, LOGS, PYTHON, SOC
from rackwright.cli.output import messages
from rackwright.hardware.toolchain import compiler, verilator_root
from rackwright.testing import passes
from rackwright.testing.selection import Selection, crates

MOST_PROCESSES = 4
"""Processes that tests run in at most: each compiles designs and keeps guests of a GiB or two."""

EXTENSION = "rackwright-python"
"""The crate without tests in Rust: those of pytest call it, compiled as for users."""

LINTED = {"RUSTC_WORKSPACE_WRAPPER": "clippy-driver", "CLIPPY_ARGS": "-D__CLIPPY_HACKERY__warnings"}
"""Has our crates compiled by clippy's compiler, and warnings be errors.

`CLIPPY_ARGS` is how `cargo clippy -- -D warnings` passes its options, with their separator. A test seeds
warnings.
"""

PROFILE = "--profile=bench"
"""Leaves what others wrote where the engine's build does, which has most of it compiled in the same way."""

SLOWEST = 20
"""The number of slowest tests listed at the end."""


@dataclass(frozen=True)
class Check:
    """One part of the suite: a command whose exit status shows whether it passed.

    The output of a quiet one is shown only when it fails. `environment` are its additional variables.
    """

    name: str
    command: tuple[str, ...]
    folder: Path
    quiet: bool = True
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """The result and the duration of a check."""

    check: Check
    passed: bool
    seconds: float


def lanes(long: bool, selection: Selection, passed: Path | None = None) -> list[list[Check]]:
    """The selection: parallel lanes, each of consecutive checks.

    pytest writes the files whose tests have passed to `passed`, if given, see `passes.py`.

    All lanes run at once: compilers use the processors while tests of pytest wait for services, and while the
    last test of another lane uses one of them.
    """
    every = [
        (selection.tests != (), [_pytest(long, selection, passed)]),
        (selection.crates != (), _rust(long, selection.crates)),
        (selection.blocks, [_blocks(), _chips()]),
        (selection.lints, _python()),
    ]
    return [checks for is_wanted, checks in every if is_wanted]


def _python() -> list[Check]:
    config = ("--config", "pyproject.toml")
    return [
        Check("ruff", ("ruff", "check", ".", "../examples", *config), PYTHON),
        Check("ruff format", ("ruff", "format", "--check", ".", "../examples", *config), PYTHON),
        Check("mypy", ("mypy",), PYTHON),
    ]


def _rust(long: bool, selected: tuple[str, ...] | None) -> list[Check]:
    """Lints of the crates, which also compile their tests; then the tests.

    Clippy's compiler lints while it compiles: `cargo clippy` would read everything once more, without a
    result. Both commands select the same crates, because features of dependencies depend on the selection.
    """
    whole = ("--workspace",) if selected is None else _packages(selected)
    tested = [name for name in (selected or crates()) if name != EXTENSION]
    # rustdoc takes seconds for each crate to find no examples.
    with_examples = [name for name in tested if _has_examples(crates()[name][0])]
    ignored = ("--", "--include-ignored") if long else ()
    test, common = ("cargo", "test", PROFILE), ("--locked", "--quiet", "--no-fail-fast")
    lints = ("cargo", "build", PROFILE, *whole, "--all-targets", "--locked")
    checks = [
        Check("cargo fmt", ("cargo", "fmt", "--check"), ENGINE),
        Check("clippy", lints, ENGINE, environment=LINTED),
    ]
    if tested:
        checks.append(
            Check("cargo test", (*test, *whole, "--tests", *common, *ignored), ENGINE, environment=LINTED)
        )
    if with_examples:
        examples = (*test, "--doc", *_packages(with_examples), *common, *ignored)
        checks.append(Check("cargo test --doc", examples, ENGINE, environment=LINTED))
    return checks


def _packages(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"--package={name}" for name in names)


def _has_examples(folder: Path) -> bool:
    """Whether the documentation of a crate has code in it."""
    sources = (path.read_text(encoding="utf-8") for path in (folder / "src").rglob("*.rs"))
    return any(re.search(r"^\s*//[/!]\s*```", text, re.MULTILINE) for text in sources)


def _blocks() -> Check:
    """Tests of single blocks, with Verilator and a compiler for its output.

    With ccache, Verilator's runtime, more than half of the code compiled for a block, is compiled once.
    """
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), str(verilator_root() / "bin")])
    found = {
        "PATH": path,
        "MAKEFLAGS": f"CXX={compiler()} OBJCACHE={shutil.which('ccache') or ''}",
        "CCACHE_DIR": str(BUILD / "ccache"),
        # Each block has a folder of its own, which must not make its runtime differ from others'.
        "CCACHE_BASEDIR": str(HARDWARE / "target"),
    }
    return Check("mvn verify", ("mvn", "-q", "-B", "verify"), HARDWARE, environment=found)


def _chips() -> Check:
    """The generator of complete chips compiles without a warning, and is formatted."""
    return Check("mvn verify soc", ("mvn", "-q", "-B", "verify"), SOC)


def _pytest(long: bool, selection: Selection, passed: Path | None) -> Check:
    # Tests of a file share their set-up, so that one process runs a file; the slowest files are first, as
    # ordered by conftest.py.
    files = selection.tests or ()
    # One more than processors, because tests wait for services, for programs and for each other's designs.
    processes = min((os.cpu_count() or 1) + 1, MOST_PROCESSES)
    shared = ("-n", str(processes), "--dist", "loadfile", "--no-loadscope-reorder") if len(files) != 1 else ()
    slowest = (f"--durations={SLOWEST}", "--durations-min=1")
    named = ("-k", " or ".join(selection.names)) if selection.names else ()
    short = () if long else ("-m", "not long")
    noting = ("-p", "rackwright.testing.passes") if passed else ()
    times = ("-p", "rackwright.testing.durations")
    command = ("pytest", *noting, *times, *shared, *slowest, *short, *named, *files)
    environment = {passes.OUTPUT: str(passed)} if passed else {}
    return Check("pytest", command, PYTHON, quiet=False, environment=environment)


def run_check(check: Check, environment: Mapping[str, str]) -> Outcome:
    """Runs one check and returns its result."""
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
    with ThreadPoolExecutor(max(len(lanes), 1)) as pool:
        run = pool.map(lambda lane: [run_check(check, environment) for check in lane], lanes)
        return [outcome for outcomes in run for outcome in outcomes]
