"""The bootstrap: what it finds, what it would install, when it builds again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import typer.main
from command_line import REPOSITORY

from bootstrap import __main__ as entry
from bootstrap import builds, caches, packages, steps, tools, usage, venv
from bootstrap.console import NotReadyError
from bootstrap.jobs import side_by_side
from bootstrap.paths import ENGINE, PYTHON
from bootstrap.steps import Step, bring_up_to_date, input_files
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
    bring_up_to_date((step(workplace, make, settings=lambda: ("another compiler",)),))
    assert runs == ["one", "two", "two", "two", "two"]


def test_a_source_that_changes_while_it_is_built_is_built_again_from_nothing(workplace: Path) -> None:
    """An incremental compiler may take it for compiled."""
    source, kept = workplace / "source" / "a.txt", workplace / "kept"
    runs: list[tuple[str, bool]] = []

    def make() -> None:
        runs.append((source.read_text(), kept.exists()))
        kept.mkdir(exist_ok=True)
        if len(runs) == 1:
            source.write_text("two")
        (workplace / "made").touch()

    made = step(workplace, make, kept=(kept,))
    bring_up_to_date((made,))
    assert runs == [("one", False), ("two", False)]
    assert made.is_current()


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


def test_steps_wait_only_for_packages_that_they_need(workplace: Path) -> None:
    """Also for none, while those are installed first that some step names."""
    together = {name: threading.Barrier(2, timeout=10) for name in ("compiler", "library")}
    done: list[str] = []
    absent = tuple(Tool(name, "testing", (name,), lambda: None) for name in ("library", "compiler"))

    def install(part: tuple[Tool, ...], wanted: tuple[Tool, ...]) -> None:
        (tool,) = part
        assert wanted == ((tool,) if tool.name == "compiler" else absent)
        together[tool.name].wait()
        done.append(tool.name)

    def beside(name: str, *before: str) -> Callable[[], None]:
        def run() -> None:
            assert done == list(before)
            together[name].wait()

        return run

    def last() -> None:
        assert done == ["compiler", "library"]
        done.append("last")

    made = (
        step(workplace, beside("compiler"), "beside", uses=("another",)),
        step(workplace, beside("library", "compiler"), "compiles", uses=("compiler", "another")),
        step(workplace, last, "unknown"),
    )
    bring_up_to_date(builds.after_installing(absent, absent, install, made))
    assert done == ["compiler", "library", "last"]


def test_packages_that_no_step_names_are_installed_at_once(workplace: Path) -> None:
    installed = []
    absent = (Tool("library", "testing", ("library",), lambda: None),)
    steps_ = builds.after_installing(absent, absent, lambda *tools_: installed.append(tools_), ())
    bring_up_to_date(steps_)
    assert installed == [(absent, absent)]


def test_a_failed_step_is_not_remembered_and_shows_its_log(workplace: Path) -> None:
    def fail() -> None:
        steps.execute("thing", ["sh", "-c", "echo the reason; exit 1"], workplace)

    broken = step(workplace, fail)
    with pytest.raises(NotReadyError, match="the reason"):
        bring_up_to_date((broken,))
    assert not broken.is_current()


def test_a_network_that_inspects_tls_is_named_with_what_to_do(workplace: Path) -> None:
    """Maven names the cause as Java does, in colours; what a user can do about it follows."""
    line = r"\033[0m[ERROR] PKIX: unable to find valid certification path to requested target"
    command = ["sh", "-c", f"printf '{line}\n'; exit 1"]
    broken = step(workplace, lambda: steps.execute("thing", command, workplace))
    with pytest.raises(NotReadyError) as error:
        bring_up_to_date((broken,))
    assert "    [ERROR] PKIX" in str(error.value)
    assert "keytool -importcert" in str(error.value)


def test_a_missing_package_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = Tool("frobnicate", "testing", ("frobnicate-dev",), lambda: None)
    optional = Tool("nicety", "testing", ("nicety",), lambda: None, optional=True)
    monkeypatch.setattr(tools, "TOOLS", (absent, optional))
    monkeypatch.setattr(packages, "_privilege", lambda: None)
    with pytest.raises(NotReadyError) as error:
        packages.ensure_tools("demo")
    message = str(error.value)
    assert message == (
        "missing: frobnicate; install with: "
        "sudo sh -c 'apt-get update && apt-get install -y --no-install-recommends frobnicate-dev'"
    )


def test_all_that_is_missing_is_in_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also what comes beside a package, and what is not needed but good to have, if the archive has it."""
    absent = Tool("rust", "testing", ("rustc-web",), lambda: None, companions=("cargo*",))
    optional = Tool("nicety", "testing", ("nicety",), lambda: None, optional=True)
    monkeypatch.setattr(tools, "TOOLS", (absent, optional))
    monkeypatch.setattr(packages, "_privilege", lambda: None)
    monkeypatch.setattr(packages, "_available", lambda pattern: [pattern])
    with pytest.raises(NotReadyError, match=r"missing: rust; .* rustc-web cargo-web nicety'"):
        packages.ensure_tools("demo")
    # Before the first `apt-get update` nothing is known of the archive.
    monkeypatch.setattr(packages, "_available", lambda pattern: [])
    with pytest.raises(NotReadyError, match=r"missing: rust; .* rustc-web cargo-web'"):
        packages.ensure_tools("demo")


def test_help_before_anything_is_installed_names_every_verb(tmp_path: Path) -> None:
    """In a copy without builds, with a Python that has nothing but its standard library."""
    copy = tmp_path / "copy"
    (copy / "python").mkdir(parents=True)
    shutil.copy(REPOSITORY / "rw", copy / "rw")
    shutil.copytree(REPOSITORY / "python" / "bootstrap", copy / "python" / "bootstrap")
    for lock in (REPOSITORY / "python").glob("*.lock"):
        shutil.copy(lock, copy / "python")
    result = subprocess.run(
        [copy / "rw", "demo", "--help"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    from rackwright.cli.app import command_line

    commands = typer.main.get_command(command_line()).commands  # type: ignore[attr-defined]
    assert {name: command.help.splitlines()[0] for name, command in commands.items()} == usage.VERBS
    assert all(f"  {name} " in result.stdout for name in commands)
    assert not (copy / ".build").exists()


def test_folders_that_cannot_be_written_are_named_with_their_settings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "access", lambda path, _: not str(path).startswith("/nobody"))
    for name in ("CARGO_HOME", "XDG_CACHE_HOME", "MAVEN_OPTS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/nobody")
    monkeypatch.setattr(Path, "exists", lambda path: str(path) in ("/nobody", "/", str(tmp_path)))
    with pytest.raises(NotReadyError) as error:
        caches.check()
    for setting in ("MAVEN_OPTS=-Dmaven.repo.local=", "CARGO_HOME=", "XDG_CACHE_HOME="):
        assert setting in str(error.value)
    monkeypatch.setenv("CARGO_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("MAVEN_OPTS", "-Dmaven.repo.local=/elsewhere")
    caches.check()


def test_an_environment_that_was_moved_is_settled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    environment = tmp_path / "venv"
    (environment / "bin").mkdir(parents=True)
    monkeypatch.setattr(venv, "VENV", environment)
    packages_folder = venv.packages()
    packages_folder.mkdir(parents=True)
    (packages_folder / "rackwright.pth").write_text("/before/python\n")
    script = environment / "bin" / "pytest"
    script.write_text("#!/before/.build/venv/bin/python3\nprint(1)\n")
    binary = environment / "bin" / "ruff"
    binary.write_bytes(b"\x7fELF\n#!/bin/python")
    venv.settle()
    assert script.read_text() == f"#!{environment}/bin/python3\nprint(1)\n"
    assert binary.read_bytes() == b"\x7fELF\n#!/bin/python"
    assert (packages_folder / "rackwright.pth").read_text() == f"{PYTHON}\n"


def test_what_few_verbs_use_is_made_for_them() -> None:
    assert entry.extras_of(["run", "a.elf", "--cpu", "rocket-rtl"]) == {builds.ROCKET_RTL}
    assert entry.extras_of(["run", "a.elf", "--cpu=rocket-rtl"]) == {builds.ROCKET_RTL}
    assert entry.extras_of(["profile", "--", "run", "a.elf"]) == {builds.PARQUET}
    assert entry.extras_of(["demo"]) == set()
    # Manifests are checked by the engine, which the verb does without otherwise.
    assert "engine" not in {
        step.name for step in builds.steps_for("synth", entry.extras_of(["synth", "nic"]))
    }
    for verb, others in (("synth", {builds.FRONT_END}), ("units", set())):
        extras = entry.extras_of([verb, "manifest.json"])
        assert extras == {builds.MANIFESTS} | others
        assert {"engine"} | others <= {step.name for step in builds.steps_for(verb, extras)}
    # Its file is a profile of a fleet.
    assert entry.extras_of(["generate", "fleet.yaml"]) == entry.extras_of(["profile", "--help"]) == set()
    assert entry.extras_of(["test"]) == set(builds.EXTRAS)
    assert not set(builds.EXTRAS) & {step.name for step in builds.steps_for("demo")}


def test_the_newest_package_of_a_pattern_with_its_companions(monkeypatch: pytest.MonkeyPatch) -> None:
    archive = {"rustc-1.*": ["rustc-1.80", "rustc-1.85", "rustc-1.9"], "rustc": ["rustc"]}
    monkeypatch.setattr(packages, "_available", lambda pattern: archive.get(pattern, []))
    assert packages.packages_of(tools.CARGO) == ["rustc-1.85", "cargo-1.85"]
    archive["rustc-web"] = ["rustc-web"]
    assert packages.packages_of(tools.CARGO) == ["rustc-web", "cargo-web"]
    del archive["rustc-web"], archive["rustc-1.*"]
    assert packages.packages_of(tools.CARGO) == ["rustc", "cargo"]


def test_what_the_engine_is_made_of_compiles_with_the_oldest_cargo_that_will_do() -> None:
    """A lock file names versions for all machines; cargo refuses those that want a newer compiler."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--manifest-path"]
    told = subprocess.run([*command, ENGINE / "Cargo.toml"], capture_output=True, check=True).stdout
    wanted = {each["name"]: each["rust_version"] for each in json.loads(told)["packages"]}
    assert wanted["rackwright-time"] == ".".join(map(str, tools.OLDEST_CARGO))
    newer = {
        name: least for name, least in wanted.items() if least and tools.numbers(least) > tools.OLDEST_CARGO
    }
    assert not newer


def test_an_engine_of_another_profile_is_built_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """CI's engine, which is not one to measure with."""

    def fingerprint() -> tuple[str, ...]:
        return next(step.settings() for step in builds.all_steps() if step.name == "engine")

    monkeypatch.delenv("CARGO_PROFILE_RELEASE_LTO", raising=False)
    before = fingerprint()
    monkeypatch.setenv("CARGO_PROFILE_RELEASE_LTO", "off")
    assert set(fingerprint()) - set(before) == {"CARGO_PROFILE_RELEASE_LTO=off"}


def test_nothing_is_installed_when_everything_is_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    present = Tool("sh", "testing", ("dash",), lambda: Found("/bin/sh", "1"))
    monkeypatch.setattr(tools, "TOOLS", (present,))
    monkeypatch.setattr(packages, "KNOWN", tmp_path / "tools")
    monkeypatch.setattr(packages, "_install", lambda *_: pytest.fail("installed something"))
    packages.ensure_tools("test")


def test_a_verb_cannot_do_without_what_it_alone_needs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What is optional for the tests is needed by its verb, also after a run that did without."""
    absent = [
        Tool(name, "testing", (name,), lambda: None, optional=True, tests_only=True, verbs=("synth",))
        for name in ("mapper", "timer")
    ]
    monkeypatch.setattr(tools, "TOOLS", tuple(absent))
    monkeypatch.setattr(packages, "KNOWN", tmp_path / "tools")
    monkeypatch.setattr(packages, "_privilege", lambda: None)
    monkeypatch.setattr(packages, "_available", lambda pattern: [pattern])
    packages.ensure_tools("demo")
    packages.ensure_tools("test")
    with pytest.raises(NotReadyError, match=r"missing: mapper, timer; .* mapper timer'"):
        packages.ensure_tools("synth")


def test_tools_that_were_found_are_not_asked_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Until one of them is gone, others are wanted, or programs are looked for elsewhere."""
    program, asked = tmp_path / "sh", []
    program.touch()

    def find() -> Found:
        asked.append(1)
        return Found(str(program), "1")

    monkeypatch.setattr(tools, "TOOLS", (Tool("sh", "testing", ("dash",), find),))
    monkeypatch.setattr(packages, "KNOWN", tmp_path / "stamps" / "tools")

    def times_asked() -> int:
        tools.forget()
        before = len(asked)
        packages.ensure_tools("demo")
        return len(asked) - before

    assert [times_asked(), times_asked()] == [1, 0]
    monkeypatch.setenv("PATH", str(tmp_path))
    assert [times_asked(), times_asked()] == [1, 0]
    program.rename(tmp_path / "dash")
    program = tmp_path / "dash"
    assert [times_asked(), times_asked()] == [1, 0]
    other = Tool("optional", "testing", ("optional",), lambda: None, optional=True)
    monkeypatch.setattr(packages, "_may_try_optional", lambda _: False)
    monkeypatch.setattr(tools, "TOOLS", (*tools.TOOLS, other))
    assert [times_asked(), times_asked()] == [1, 0]


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


def test_the_command_line_needs_no_engine_to_say_what_it_can() -> None:
    load = "from rackwright.cli.app import command_line; command_line()"
    program = f"import sys; sys.modules['rackwright._engine'] = None; {load}"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_sources_are_files_that_are_there_and_not_what_builds_leave(tmp_path: Path) -> None:
    for name in ("b.rs", "deep/a.rs", "deep/notes.txt", "target/made.rs", "deep/__pycache__/cached.rs"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    # As an editor locks a file.
    (tmp_path / ".#b.rs").symlink_to("nowhere")
    assert input_files([tmp_path], ("*.rs",)) == [tmp_path / "b.rs", tmp_path / "deep" / "a.rs"]
    alone = tmp_path / "deep" / "notes.txt"
    assert input_files([alone, tmp_path / "absent"], ("*.rs",)) == [alone]


def test_jobs_give_their_results_in_order_or_the_first_error() -> None:
    def make(job: int) -> int:
        if job in (3, 5):
            raise NotReadyError(f"no {job}")
        return job * job

    assert side_by_side(make, range(3)) == [0, 1, 4]
    with pytest.raises(NotReadyError, match="no 3"):
        side_by_side(make, range(9))
