"""`rw test PATH|NAME…` and `rw test --changed`: which parts of the suite they take."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import REPOSITORY, rw
from tiers import long

from rackwright.errors import RackwrightError
from rackwright.testing.checks import lanes
from rackwright.testing.imports import TESTS, files_of_tests
from rackwright.testing.processor import ProcessorTime, kind_of
from rackwright.testing.selection import EVERYTHING, Selection, affected, changed_since, crates, named

WHAT_IS_IMPORTED = """
import json, sys, pytest
status = pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[1:]])
files = [module.__file__ for module in list(sys.modules.values()) if getattr(module, "__file__", None)]
print(json.dumps([int(status), files]))
"""

QUICK = ("test_whole.py", "test_hardware_layers.py", "test_dispatch_configuration.py")
"""Files of tests that take a second and import as others do."""


def taken(*paths: str) -> Selection:
    return affected(REPOSITORY / path for path in paths)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *((name, ()) for name in QUICK),
        *(
            long(str(each.path.relative_to(TESTS)), ("--collect-only",), why="seconds each; three do run")
            for each in files_of_tests()
        ),
    ],
)
def test_what_a_test_imports_is_known_without_running_it(name: str, options: tuple[str, ...]) -> None:
    """A change of anything that was imported, also in the midst of a test, has its file run."""
    command = [sys.executable, "-c", WHAT_IS_IMPORTED, str(TESTS / name), *options]
    ended = subprocess.run(command, cwd=TESTS.parent, capture_output=True, text=True, check=True)
    status, files = json.loads(ended.stdout.splitlines()[-1])
    assert status == 0, ended.stdout
    imported = {Path(file) for file in files if file.endswith(".py")}
    ours = {path for path in imported if path.is_relative_to(TESTS.parent)}
    [test] = [each for each in files_of_tests() if each.path == TESTS / name]
    assert test.path in ours
    assert ours - test.sources == set()
    for path in ours - {test.path}:
        tests = affected([path]).tests
        assert tests is None or test.name in tests


def test_what_is_not_known_affects_everything() -> None:
    assert taken("rw") == taken(".ci/run") == EVERYTHING
    assert taken("engine/Cargo.lock") == EVERYTHING
    assert taken("hardware/pom.xml").tests is None
    assert taken("software/include/rackwright/process.h").tests is None
    assert taken("python/tests/conftest.py").tests is None
    assert taken("python/rackwright/module_that_is_gone.py").tests is None


def test_a_test_affects_itself_and_what_many_share_all_of_them() -> None:
    own = taken("python/tests/test_codecs.py")
    assert (own.lints, own.crates, own.blocks, own.tests) == (True, (), False, ("tests/test_codecs.py",))
    shared = taken("python/tests/strategies.py").tests
    assert shared is not None
    assert {"tests/test_deflate_compress.py", "tests/test_snappy_compress.py"} <= set(shared)
    assert "tests/test_codecs.py" not in shared
    started = taken("python/tests/command_copies.py").tests
    assert started is not None
    assert {"tests/test_command_line.py", "tests/test_register_maps.py"} <= set(started)
    assert "tests/test_hardware_layers.py" not in started


def test_a_module_affects_whoever_starts_programs() -> None:
    found = taken("python/rackwright/cli/synth.py").tests
    assert found is not None
    assert {"tests/test_command_line.py", "tests/test_selection.py"} <= set(found)
    assert "tests/test_hardware_layers.py" not in found
    # It imports modules by the values of a table.
    assert "tests/test_package_layout.py" in (taken("python/rackwright/unit/store.py").tests or ())


def test_texts_affect_who_reads_them() -> None:
    assert "tests/test_documentation.py" in (taken("docs/json.md").tests or ())
    assert "tests/test_documentation.py" in (taken("README.md").tests or ())
    assert "tests/test_examples.py" in (taken("examples/README.md").tests or ())
    # It names no example: modules of what it reproduces run some.
    assert "tests/test_fireperf_rate.py" in (taken("examples/clusters/thousand_nodes.py").tests or ())
    assert "tests/test_fireperf_rate.py" not in (taken("examples/README.md").tests or ())
    assert taken("docs/json.md").crates == ()


def test_a_crate_affects_those_that_depend_on_it() -> None:
    folder = crates()["rackwright-time"][0].relative_to(REPOSITORY)
    found = taken(f"{folder}/src/lib.rs")
    assert found.tests is None
    assert {"rackwright-time", "rackwright-link", "rackwright-server"} <= set(found.crates or ())
    server = crates()["rackwright-server"][0].relative_to(REPOSITORY)
    assert "rackwright-time" not in (taken(f"{server}/src/lib.rs").crates or ())
    alone = taken(f"{server}/tests/all/rocket_validation.rs")
    assert (alone.crates, alone.tests) == (("rackwright-server",), ())


def test_blocks_of_hardware_are_tested_alone() -> None:
    tests = "hardware/src/test/scala/rackwright/BlockTest.scala"
    assert taken(tests) == Selection(False, (), True, ())
    assert taken("hardware/src/main/scala/rackwright/nic/Nic.scala") == Selection(False, (), True, None)
    assert taken("hardware/src/main/resources/rackwright/drx/isa.json") == Selection(False, None, True, None)


def test_git_says_what_has_changed(tmp_path: Path) -> None:
    with pytest.raises(RackwrightError, match=r"git: .*no-such-revision"):
        changed_since("no-such-revision")
    new = TESTS / f"new-{os.getpid()}.txt"
    new.touch()
    try:
        assert new in changed_since("HEAD")
    finally:
        new.unlink()


def test_names_are_of_files_crates_and_tests() -> None:
    here = TESTS
    assert named(["test_codecs.py"], here).tests == ("tests/test_codecs.py",)
    assert named(["test_codecs.py::test_x"], here).tests == ("tests/test_codecs.py::test_x",)
    assert named(["time", "rackwright-link"], here) == Selection(
        False, ("rackwright-link", "rackwright-time"), False, ()
    )
    found = named(["every_alignment"], here)
    assert (found.tests, found.names, found.crates) == (None, ("every_alignment",), ())
    with pytest.raises(RackwrightError, match="is not in"):
        named(["/etc/passwd"], here)
    with pytest.raises(RackwrightError, match="no such file"):
        named(["tests/test_codecs.py"], here)


def test_only_what_is_selected_is_run() -> None:
    def names(selection: Selection) -> list[str]:
        return [check.name for lane in lanes(False, selection) for check in lane]

    assert names(EVERYTHING) == [
        "pytest", "cargo fmt", "clippy", "cargo test", "cargo test --doc",
        "mvn verify", "mvn verify soc", "ruff", "ruff format", "mypy",
    ]  # fmt: skip
    assert names(Selection(False, ("rackwright-link",), False, ())) == [
        "cargo fmt", "clippy", "cargo test",
    ]  # fmt: skip
    assert names(Selection(False, ("rackwright-python",), False, ())) == ["cargo fmt", "clippy"]
    assert names(named(["test_codecs.py"], TESTS)) == ["pytest"]


def test_crates_are_linted_while_they_are_compiled(tmp_path: Path) -> None:
    (tmp_path / "Cargo.toml").write_text('[package]\nname = "linted"\nedition = "2021"\n[workspace]\n')
    (tmp_path / "src").mkdir()
    source = tmp_path / "src" / "lib.rs"
    (lints,) = [check for lane in lanes(False, EVERYTHING) for check in lane if check.name == "clippy"]
    # The package made here has no profile of its own.
    command = [word for word in lints.command if word != "--locked" and not word.startswith("--profile")]
    environment = os.environ | lints.environment | {"CARGO_TARGET_DIR": str(tmp_path / "target")}
    for text, complaint in (
        ("#[test]\nfn one() {\n    return ();\n}\n", "clippy::needless_return"),
        ("fn nobody_calls_this() {}\n", "dead_code"),
        ("pub fn one() -> u32 {\n    1\n}\n", ""),
    ):
        source.write_text(text)
        ended = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert (ended.returncode != 0) == bool(complaint)
        assert complaint.replace("_", "-").removeprefix("clippy::") in ended.stderr.replace("_", "-")


def test_tests_of_one_name_end_with_a_summary() -> None:
    ended = rw("test", TESTS / "test_whole.py")
    assert ended.status == 0, ended.stdout + ended.stderr
    assert " passed in " in ended.stdout
    assert "processor time" in ended.stdout
    assert ended.stderr.splitlines()[-1] == "checks: 1 passed, 0 failed"
    nothing = rw("test", TESTS / "test_whole.py", "no_test_has_this_name")
    assert nothing.status == 1
    assert nothing.stderr.splitlines()[-1] == "checks: 0 passed, 1 failed"
    twice = rw("test", "--changed", "HEAD", "main")
    assert twice.status == 2
    assert "one revision" in twice.stderr


def test_processor_time_is_that_of_programs() -> None:
    assert kind_of("clang++-19") == kind_of("cc1plus") == "C and C++"
    assert kind_of("cargo-clippy") == "Rust"
    assert kind_of("clippy-driver") == "Rust"
    assert kind_of("firtool") == "firtool"
    time = ProcessorTime()
    with time.observed():
        subprocess.run([sys.executable, "-c", "sum(range(60_000_000))"], check=True)
    used = dict(time.by_kind())
    assert sum(used.values()) > 0.2
