"""Each cell of the table of docs/combinations.md is tried: it works, or one line says why not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from combinations import REASONS, Case, cases, refusal, table

from bootstrap.paths import REPOSITORY
from rackwright.cli.app import main


def name_of(case: Case) -> str:
    return "-".join((case.workload.replace(" ", ""), case.place, case.cpu, case.feature))


@pytest.mark.parametrize("case", cases(), ids=name_of)
def test_it_works_or_says_why_not(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["rw", *case.command(tmp_path)])
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
        assert REASONS[letter].line in errors[-1]
    if letter is None and case.feature == "waves":
        assert (tmp_path / "waves.fst").stat().st_size > 0
    if letter is None and case.feature == "profile":
        assert list((tmp_path / "profile").rglob("profile.json"))


def test_the_page_has_the_table() -> None:
    assert table() in (REPOSITORY / "docs" / "combinations.md").read_text(encoding="utf-8")
