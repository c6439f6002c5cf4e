"""Each cell of the table of docs/combinations.md is tried: it works, or one line says why not."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from combinations import REASONS, Case, cases, compiled, refusal, table
from tiers import long

from bootstrap.paths import REPOSITORY
from rackwright import compile_program
from rackwright.cli.app import main
from rackwright.linux.boot import boot
from rackwright.linux.image import default_image, load_image


def name_of(case: Case) -> str:
    return "-".join((case.workload.replace(" ", ""), case.place, case.cpu, case.feature))


@pytest.fixture(scope="module")
def booted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint of a machine of one hart that has booted, with the program that uses a unit."""
    folder = tmp_path_factory.mktemp("booted")
    program = compiled("units", folder, compile_program)
    path = folder / "checkpoint"
    boot(load_image(default_image()), memory_bytes=256 << 20, files=[program], checkpoint=path)
    return path


def tried(case: Case) -> Any:
    name = name_of(case)
    why = "an image of Linux, and a boot for all: each run from its checkpoint takes seconds"
    return long(case, why=why, name=name) if case.needs_image else pytest.param(case, id=name)


@pytest.mark.parametrize("case", [tried(case) for case in cases()])
def test_it_works_or_says_why_not(
    case: Case,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    checkpoint = request.getfixturevalue("booted") if case.boots else tmp_path / "none is needed"
    monkeypatch.setattr(sys, "argv", ["rw", *case.command(tmp_path, checkpoint)])
    try:
        status = main()
    except SystemExit as ended:
        status = int(ended.code or 0)
    errors = capfd.readouterr().err.strip().splitlines()
    letter = refusal(case)
    if letter is None:
        assert status == 0, errors
    else:
        assert status != 0
        # An option that a verb does not have is refused in a box of some lines.
        said = errors if errors[-1].startswith("╰") else errors[-1:]
        assert REASONS[letter].line in " ".join(said)
    if letter is None and case.feature == "waves":
        assert (tmp_path / "waves.fst").stat().st_size > 0
    if letter is None and case.feature == "profile":
        assert list((tmp_path / "profile").rglob("profile.json"))


def test_the_page_has_the_table() -> None:
    assert table() in (REPOSITORY / "docs" / "combinations.md").read_text(encoding="utf-8")
