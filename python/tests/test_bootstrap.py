"""The bootstrap: what it finds, what it would install, when it builds again."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from bootstrap import __main__ as entry
from bootstrap import packages, steps, tools
from bootstrap.console import NotReadyError
from bootstrap.steps import Step, bring_up_to_date
from bootstrap.tools import Found, Tool


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of its own for steps."""
    monkeypatch.setattr(steps, "REPOSITORY", tmp_path)
    monkeypatch.setattr(steps, "BUILD", tmp_path / ".build")
    monkeypatch.setattr(steps, "STAMPS", tmp_path / ".build" / "stamps")
    monkeypatch.setattr(steps, "LOGS", tmp_path / ".build" / "logs")
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "a.txt").write_text("one")
    return tmp_path


def step(workplace: Path, run: Callable[[], None], name: str = "thing", **changes: object) -> Step:
    """A step that makes `made` from the folder `source`."""
    fields: dict[str, object] = {
        "inputs": (workplace / "source",),
        "outputs": (workplace / "made",),
        "run": run,
    }
    return Step(name, "a thing", **(fields | changes))  # type: ignore[arg-type]


def test_a_step_runs_again_only_when_something_changed(workplace: Path) -> None:
    runs: list[str] = []

    def make() -> None:
        runs.append((workplace / "source" / "a.txt").read_text())
        (workplace / "made").touch()

    for _ in range(2):
        bring_up_to_date((step(workplace, make),))
    assert runs == ["one"]
    (workplace / "source" / "a.txt").write_text("two")
    bring_up_to_date((step(workplace, make),))
    (workplace / "source" / "b.txt").touch()
    bring_up_to_date((step(workplace, make),))
    (workplace / "made").unlink()
    bring_up_to_date((step(workplace, make),))
    bring_up_to_date((step(workplace, make, settings=("another compiler",)),))
    assert runs == ["one", "two", "two", "two", "two"]


def test_what_builds_leave_behind_is_no_input(workplace: Path) -> None:
    before = step(workplace, lambda: None).fingerprint()
    (workplace / "source" / "target").mkdir()
    (workplace / "source" / "target" / "out.txt").touch()
    assert step(workplace, lambda: None).fingerprint() == before


def test_independent_steps_run_together_and_dependent_ones_wait(workplace: Path) -> None:
    together = threading.Barrier(2, timeout=10)
    done: list[str] = []

    def meet(name: str) -> Callable[[], None]:
        def run() -> None:
            together.wait()
            done.append(name)

        return run

    def last() -> None:
        assert sorted(done) == ["first", "second"]
        done.append("last")

    bring_up_to_date(
        (
            step(workplace, last, "last", after=("first", "second")),
            step(workplace, meet("first"), "first"),
            step(workplace, meet("second"), "second"),
        )
    )
    assert done[-1] == "last"


def test_a_failed_step_is_not_remembered_and_shows_its_log(workplace: Path) -> None:
    def fail() -> None:
        steps.execute("thing", ["sh", "-c", "echo the reason; exit 1"], workplace)

    broken = step(workplace, fail)
    with pytest.raises(NotReadyError, match="the reason"):
        bring_up_to_date((broken,))
    assert not broken.is_current()


def test_a_missing_package_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = Tool("frobnicate", "testing", ("frobnicate-dev",), lambda: None)
    optional = Tool("nicety", "testing", ("nicety",), lambda: None, optional=True)
    monkeypatch.setattr(tools, "TOOLS", (absent, optional))
    monkeypatch.setattr(packages, "_privilege", lambda: None)
    with pytest.raises(NotReadyError) as error:
        packages.ensure_tools(for_tests=False)
    message = str(error.value)
    assert message == "missing: frobnicate; install with: sudo apt-get install frobnicate-dev"


def test_the_newest_package_of_a_pattern_with_its_companions(monkeypatch: pytest.MonkeyPatch) -> None:
    archive = {"rustc-1.*": ["rustc-1.80", "rustc-1.85", "rustc-1.9"], "rustc": ["rustc"]}
    monkeypatch.setattr(packages, "_available", lambda pattern: archive.get(pattern, []))
    assert packages.packages_of(tools.CARGO) == ["rustc-1.85", "cargo-1.85"]
    archive["rustc-web"] = ["rustc-web"]
    assert packages.packages_of(tools.CARGO) == ["rustc-web", "cargo-web"]
    del archive["rustc-web"], archive["rustc-1.*"]
    assert packages.packages_of(tools.CARGO) == ["rustc", "cargo"]


def test_nothing_is_installed_when_everything_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    present = Tool("sh", "testing", ("dash",), lambda: Found("/bin/sh", "1"))
    monkeypatch.setattr(tools, "TOOLS", (present,))
    monkeypatch.setattr(packages, "_install", lambda *_: pytest.fail("installed something"))
    packages.ensure_tools(for_tests=True)


@pytest.mark.parametrize(
    ("arguments", "verb"),
    [
        ([], "help"),
        (["--help"], "help"),
        (["demo", "--help"], "help"),
        (["run", "a.elf", "--", "--help"], "run"),
        (["units", "--json"], "units"),
        (["test", "--long"], "test"),
        (["frobnicate"], "help"),
    ],
)
def test_verb_of(arguments: list[str], verb: str) -> None:
    assert entry.verb_of(arguments) == verb
