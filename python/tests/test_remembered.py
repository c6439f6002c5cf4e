"""Files of tests that passed before: which are left out, and that none is that would fail."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from command_line import REPOSITORY

from rackwright.cli import test as verb
from rackwright.testing import remembered
from rackwright.testing.imports import TESTS, files_of_tests
from rackwright.testing.passes import OUTPUT
from rackwright.testing.remembered import HISTORY, Memory, State, forget, passed_before, remember, without
from rackwright.testing.selection import EVERYTHING, Selection, affected

NAMES = frozenset(each.name for each in files_of_tests())

CHANGED = (
    "python/tests/test_deflate_rules.py",
    "python/tests/strategies.py",
    "python/tests/conftest.py",
    "python/tests/fixtures/case.sv",
    "python/rackwright/cli/synth.py",
    "python/rackwright/files/whole.py",
    "python/requirements.lock",
    "docs/json.md",
    "examples/README.md",
    "validation/synthesis/table.csv",
    "engine/Cargo.lock",
    "engine/crates/rtl/rtl/src/verilator.rs",
    "hardware/pom.xml",
    "hardware/src/test/scala/rackwright/BlockTest.scala",
    "software/include/rackwright/process.h",
    "soc/pom.xml",
    "rw",
)
"""A file of each kind."""

FILES = {
    "good": "def test_a(): pass\n",
    "bad": "def test_a(): pass\ndef test_b(): assert False\n",
    "skips": "import pytest\ndef test_a(): pass\ndef test_b(): pytest.skip('not here')\n",
    "unread": "import nothing_of_this_name\n",
    "torn": "import pytest\n@pytest.fixture\ndef x():\n    yield\n    assert False\ndef test_a(x): pass\n",
    "empty": "def helper(): pass\n",
}


def state(files: Mapping[str, str] | None = None, machine: str = "m", commit: str = "c") -> State:
    return State(machine, commit, files or dict.fromkeys(CHANGED, "as it was"))


def noted(folder: Path, names: list[str], *options: str) -> tuple[int, list[str] | None]:
    """The exit status of pytest on these of `FILES`, and which of them it notes as passed."""
    for name in names:
        (folder / f"test_{name}.py").write_text(FILES[name], encoding="utf-8")
    output = folder / "passed.json"
    files = [f"test_{name}.py" for name in names]
    plugins = ("-p", "rackwright.testing.passes", "-p", "no:cacheprovider")
    command = [sys.executable, "-m", "pytest", "-q", *plugins, *options, *files]
    environment = os.environ | {OUTPUT: str(output)}
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if not output.exists():
        return ended.returncode, None
    passed = json.loads(output.read_text(encoding="utf-8"))
    return ended.returncode, [name.removeprefix("test_").removesuffix(".py") for name in passed]


@pytest.mark.parametrize("options", [(), ("-n", "2", "--dist", "loadfile")], ids=["alone", "two"])
def test_only_files_whose_tests_have_all_passed_are_noted(tmp_path: Path, options: tuple[str, ...]) -> None:
    assert noted(tmp_path, list(FILES), "--continue-on-collection-errors", *options) == (1, ["good"])


def test_files_without_a_test_to_run_pass_with_the_others(tmp_path: Path) -> None:
    """All that is left may be tests of long runs."""
    assert noted(tmp_path, ["good", "skips", "empty"]) == (0, ["empty", "good"])
    assert noted(tmp_path, ["empty"]) == (0, ["empty"])


def test_nothing_is_noted_of_a_run_that_is_stopped(tmp_path: Path) -> None:
    assert noted(tmp_path, ["good", "unread"]) == (2, None)


@pytest.mark.parametrize("name", CHANGED)
def test_whatever_a_change_can_affect_runs_again(name: str) -> None:
    left_out = Memory(state(), NAMES).still(state(dict.fromkeys(CHANGED, "as it was") | {name: "new"}))
    again = affected([REPOSITORY / name]).tests
    assert left_out == (frozenset() if again is None else NAMES - set(again))


def test_another_machine_and_files_that_come_and_go_are_changes() -> None:
    memory = Memory(state(), NAMES)
    assert memory.still(state()) == NAMES
    assert memory.still(state(machine="other")) == frozenset()
    later = memory.still(state(commit="d"))
    assert later == NAMES - set(affected([HISTORY]).tests or ())
    assert not {"tests/test_selection.py", "tests/test_reproduce_record.py"} & later
    assert "tests/test_deflate_rules.py" in later
    fewer = {name: "as it was" for name in CHANGED if name != "python/tests/test_deflate_rules.py"}
    assert "tests/test_deflate_rules.py" not in memory.still(state(fewer))
    more = dict.fromkeys([*CHANGED, "python/tests/new_helper.py"], "as it was")
    assert memory.still(state(more)) == frozenset()


def test_what_the_files_of_the_repository_hold_is_seen(tmp_path: Path) -> None:
    now = State.now()
    assert now is not None
    assert now.changed_since(now) == []
    assert {"rw", "python/tests/test_remembered.py"} <= now.files.keys()
    new = TESTS / f"new-{os.getpid()}.txt"
    try:
        new.write_text("one", encoding="utf-8")
        one = State.now()
        new.write_text("two", encoding="utf-8")
        two = State.now()
        new.chmod(0o755)
        three = State.now()
    finally:
        new.unlink()
    assert one is not None
    assert two is not None
    assert three is not None
    # Other tests may make files of their own at the same time.
    for before, after in ((one, two), (two, three), (one, now)):
        assert [path for path in after.changed_since(before) if path.name == new.name] == [new]


def test_a_run_leaves_what_the_next_one_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "FOLDER", tmp_path / "tests")
    monkeypatch.setattr(State, "now", staticmethod(state))
    assert passed_before(state(), long=False) == frozenset()
    remember(state(), long=False, passed=["tests/test_deflate_rules.py", "tests/test_whole.py", "tests"])
    assert passed_before(state(), long=False) == {"tests/test_deflate_rules.py", "tests/test_whole.py"}
    assert passed_before(state(), long=True) == frozenset()
    # A file has been changed while tests ran: what they say is of neither state.
    remember(state(machine="before"), long=False, passed=NAMES)
    forget(["tests/test_deflate_rules.py::test_x"], long=False)
    assert passed_before(state(), long=False) == {"tests/test_whole.py"}
    forget(None, long=False)
    assert passed_before(state(), long=False) == frozenset()


def test_what_is_left_of_everything() -> None:
    assert without(EVERYTHING, frozenset()) == EVERYTHING
    assert without(EVERYTHING, NAMES).tests == ()
    assert without(EVERYTHING, NAMES - {"tests/test_deflate_rules.py"}).tests == (
        "tests/test_deflate_rules.py",
    )
    assert without(EVERYTHING, NAMES).crates is None


def test_the_second_run_leaves_out_what_the_first_has_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The verb itself, on a suite of one file."""
    monkeypatch.setattr(State, "now", staticmethod(state))
    [only] = [each for each in files_of_tests() if each.path.name == "test_whole.py"]
    monkeypatch.setattr(remembered, "FOLDER", tmp_path)
    monkeypatch.setattr(verb, "EVERYTHING", Selection(False, (), False, (only.name,)))
    for module in (remembered, verb):
        monkeypatch.setattr(module, "files_of_tests", lambda: (only,))

    def run(again: bool) -> list[str]:
        return [outcome.check.name for outcome in verb.run_all(False, again)]

    assert run(again=False) == ["pytest"]
    assert run(again=False) == []
    assert "1 of 1 files of tests passed before" in capfd.readouterr().err
    forget([only.name], long=False)
    assert passed_before(state(), long=False) == frozenset()
    remember(state(), long=False, passed=[only.name])
    assert run(again=True) == ["pytest"]
