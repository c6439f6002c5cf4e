"""The record of experiments: when each was last whole, and which should be made again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from command_line import REPOSITORY, rw

from rackwright.reports.history import git
from rackwright.reproduce import EXPERIMENTS, Experiment, Outcome, Reproduction, Row, last_whole

needs_history = pytest.mark.skipif(
    shutil.which("git") is None or not (REPOSITORY / ".git").exists(), reason="not a repository of Git"
)


@pytest.fixture(scope="module")
def commit() -> str:
    """The one that is tested."""
    return git("rev-parse", "--short=12", "HEAD").strip()


def reproduction(name: str, *rows: Row) -> Reproduction:
    """A run of 90 seconds that gave these rows."""
    experiment = Experiment(name, "title", "source", "runs", lambda _: Outcome(rows))
    return Reproduction(experiment, Outcome(rows), 90.0)


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "record.csv"
    monkeypatch.setattr(last_whole, "TABLE", path)
    return path


@needs_history
def test_runs_that_were_whole_are_recorded_and_others_leave_what_was(table: Path, commit: str) -> None:
    good, known = Row("a", 1, 1, "us", within_percent=1), Row("b", 1, 2, "us", within_percent=1, known="why")
    last_whole.keep([reproduction("two", good, known), reproduction("one", good)])
    last_whole.keep([reproduction("two", Row("c", 1, 2, "us", within_percent=1))])
    found = last_whole.read()
    assert list(found) == ["one", "two"]
    assert (found["two"].commit, found["two"].rows, found["two"].within) == (commit, 2, 1)
    assert (found["two"].minutes, found["two"].age) == (1.5, 0)
    assert table.read_text().startswith("id,commit,rows,within,processor,minutes\none,")


@needs_history
def test_what_is_too_old_or_unknown_is_named(
    table: Path, commit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    last_whole.keep([reproduction("new"), reproduction("gone")])
    table.write_text(table.read_text().replace(f"gone,{commit}", "gone,0123456789ab"))
    assert last_whole.outdated(["new", "gone", "never"]) == [
        "gone: was whole at 0123456789ab, which is not in this repository",
        "never: has no record",
    ]
    monkeypatch.setattr(last_whole, "OLDEST", -1)
    assert last_whole.outdated(["new"]) == ["new: was whole 0 commits of engine or hardware ago"]


def test_quick_runs_are_not_recorded() -> None:
    ended = rw("reproduce", "queueing", "--quick", "--record")
    assert ended.status == 1
    assert ended.stderr == "rw: --record is for whole runs; --quick ones are not recorded\n"


def test_the_record_is_of_experiments() -> None:
    assert set(last_whole.read()) <= {experiment.id for experiment in EXPERIMENTS}


@needs_history
@pytest.mark.long
def test_every_experiment_was_whole_lately() -> None:
    assert last_whole.outdated(experiment.id for experiment in EXPERIMENTS) == []
