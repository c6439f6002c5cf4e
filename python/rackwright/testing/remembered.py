"""Files of tests that passed before, and that no change since then can affect: they need not run again."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from bootstrap import packages, tools
from bootstrap.paths import BUILD, REPOSITORY, STAMPS
from rackwright.errors import RackwrightError
from rackwright.files.whole import write_whole
from rackwright.reports import history
from rackwright.reports.history import git
from rackwright.testing.imports import files_of_tests
from rackwright.testing.selection import Selection, affected

FOLDER = BUILD / "tests"
"""What the runs of this checkout remember."""

HISTORY = Path(history.__file__)
"""The module by which we read the history of the repository."""

_VARIABLES = ("RACKWRIGHT_", "CARGO_", "RUST", "CC", "CXX", "CFLAGS", "LD_", "JAVA", "PYTHON")
"""How the names of variables of the environment begin that tests may depend on."""


@dataclass(frozen=True)
class State:
    """What results depend on: `files` of the repository by their hashes, and the rest, `machine`, as one.

    `commit` is the last one, by its hash: some tests look at the history.
    """

    machine: str
    commit: str
    files: Mapping[str, str]

    @staticmethod
    def now() -> State | None:
        """That of this moment; None where Git does not say which files are the repository's."""
        try:
            listed = git("ls-files", "--cached", "--others", "--exclude-standard", "-z")
            commit = git("rev-parse", "HEAD").strip()
        except RackwrightError:
            return None
        return State(
            _machine(), commit, {name: _hash(REPOSITORY / name) for name in set(listed.split("\0")) - {""}}
        )

    def changed_since(self, other: State) -> list[Path]:
        """The files that are not as they were; a new commit is a change of what reads the history."""
        names = self.files.keys() | other.files.keys()
        changed = [REPOSITORY / name for name in names if self.files.get(name) != other.files.get(name)]
        return sorted([*changed, *([HISTORY] if self.commit != other.commit else [])])


@dataclass(frozen=True)
class Memory:
    """Files of tests that pass in a state."""

    state: State
    passed: frozenset[str]

    @staticmethod
    def read(long: bool) -> Memory | None:
        """What the last run left; those of `--long` and others have a memory each."""
        try:
            record = json.loads(_path(long).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        state = State(record["machine"], record["commit"], record["files"])
        return Memory(state, frozenset(record["passed"]))

    def write(self, long: bool) -> None:
        """Leaves it for the next run."""
        FOLDER.mkdir(parents=True, exist_ok=True)
        record = {**asdict(self.state), "passed": sorted(self.passed)}
        write_whole(_path(long), json.dumps(record, indent=1))

    def still(self, now: State) -> frozenset[str]:
        """Those that no difference between its state and `now` can affect."""
        if now.machine != self.state.machine:
            return frozenset()
        tests = affected(now.changed_since(self.state)).tests
        return frozenset() if tests is None else self.passed - set(tests)


def passed_before(now: State, long: bool) -> frozenset[str]:
    """The files of tests that would pass again in the state `now`."""
    memory = Memory.read(long)
    return frozenset() if memory is None else memory.still(now)


def without(selection: Selection, files: Collection[str]) -> Selection:
    """A selection of all files of tests, but for these."""
    left = tuple(each.name for each in files_of_tests() if each.name not in files)
    return replace(selection, tests=left) if files else selection


def remember(before: State, long: bool, passed: Collection[str]) -> None:
    """Notes what has passed in the state `before`, unless files were changed meanwhile."""
    if State.now() == before:
        known = {each.name for each in files_of_tests()}
        Memory(before, frozenset(passed) & known).write(long)


def forget(tests: Collection[str] | None, long: bool) -> None:
    """Has these tests (None: all) run the next time: one of them has failed."""
    memory = Memory.read(long)
    if memory is not None:
        gone = memory.passed if tests is None else {test.partition("::")[0] for test in tests}
        replace(memory, passed=memory.passed - gone).write(long)


def _path(long: bool) -> Path:
    return FOLDER / f"passed-{'long' if long else 'short'}.json"


def _hash(path: Path) -> str:
    """A hash of a file, of where a link leads, or nothing for a file that is gone."""
    if path.is_symlink():
        return f"link to {os.readlink(path)}"
    if not path.is_file():
        return ""
    executable = "x" if os.access(path, os.X_OK) else "-"
    return executable + hashlib.sha256(path.read_bytes()).hexdigest()


def _machine() -> str:
    """A hash of the system, its tools, what was built from what, and the environment."""
    tools.find_all(tools.TOOLS)
    parts = [sys.version, platform.platform(), str(os.cpu_count())]
    parts += [f"{tool.name} {tools.find(tool)}" for tool in tools.TOOLS]
    # Where tools were found last is noted anew whenever a command has another search path, and is above.
    stamps = sorted(path for path in STAMPS.glob("*") if path != packages.KNOWN)
    parts += [f"{path.name} {path.read_text(encoding='utf-8')}" for path in stamps]
    parts += [f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith(_VARIABLES)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
