"""Where the clock of a unit comes from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rackwright.cli.settings import parse_settings, parse_unit_settings
from rackwright.errors import RackwrightError
from rackwright.files.whole import write_whole
from rackwright.hardware import clocks
from rackwright.hardware.clocks import ClockSource, UnitClock, clock_of
from rackwright.hardware.designs import elaborate
from rackwright.hardware.manifests import main_clock, read_manifest
from rackwright.synthesis.table import Row, read_table, write_table


def written(path: Path, hertz: int, **more: str) -> Path:
    """A manifest at `path`, of a unit with a clock of so many `hertz`."""
    clock = {"pin": "clock", "reset": "reset", "hertz": hertz}
    said = {"format": 2, "unit": "u", "top": "U", "verilog": ["U.sv"], "clocks": [clock], "attach": []}
    record = {**said, "ports": [], **more}
    path.write_text(json.dumps(record), encoding="utf-8")
    return path


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    return written(tmp_path / "manifest.json", 2_000_000_000, hash="abc")


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        (1_500_000_000, UnitClock(1_500_000_000, ClockSource.synthesised)),
        (2_400_000_000, UnitClock(2_000_000_000, ClockSource.limit)),
        (None, UnitClock(2_000_000_000, ClockSource.assumed)),
    ],
)
def test_the_lower_of_synthesis_and_the_limit(
    manifest: Path, monkeypatch: pytest.MonkeyPatch, known: int | None, expected: UnitClock
) -> None:
    monkeypatch.setattr(clocks, "known_clock", lambda _: known)
    assert clock_of(manifest) == expected


def test_a_manifest_carries_what_synthesis_supports() -> None:
    path = elaborate("stream-copy")
    record = json.loads(path.read_text(encoding="utf-8"))
    assert main_clock(record)["synthesised_hertz"] == read_table()[record["hash"]].clock_hz
    main_clock(record)["synthesised_hertz"] = 1
    write_whole(path, json.dumps(record))
    assert main_clock(read_manifest(elaborate("stream-copy")))["synthesised_hertz"] > 1
    unknown = elaborate("stream-copy", {"outstanding": 8, "command-queue": 3})
    assert "synthesised_hertz" not in main_clock(read_manifest(unknown))


def test_a_manifest_that_somebody_wrote_needs_no_hash(manifest: Path) -> None:
    written(manifest, 1_200_000_000)
    assert clock_of(manifest) == UnitClock(1_200_000_000, ClockSource.assumed)


def test_a_clock_that_is_asked_for_has_no_limit(manifest: Path) -> None:
    assert clock_of(manifest, "3.2e9") == UnitClock(3_200_000_000, ClockSource.asked)


@pytest.mark.parametrize("text", ["fast", "0", "-1", "1.5", "1e13", "nan"])
def test_a_clock_that_is_none_is_refused(manifest: Path, text: str) -> None:
    with pytest.raises(RackwrightError, match="--clock"):
        clock_of(manifest, text)


@pytest.mark.parametrize("settings", [["history-kib"], ["=3"], ["history-kib="], ["a=1", "a=2"]])
def test_settings_that_are_none_are_refused(settings: list[str]) -> None:
    with pytest.raises(RackwrightError, match="--set"):
        parse_settings(settings)


@pytest.mark.parametrize("settings", [["history-kib=2"], [".history-kib=2"], ["snappy-decompress.=2"]])
def test_settings_of_no_unit_are_refused(settings: list[str]) -> None:
    with pytest.raises(RackwrightError, match=r"UNIT\.PARAMETER=VALUE"):
        parse_unit_settings(settings)


def test_settings_are_put_together_by_unit() -> None:
    settings = ["nic.queue=2", "snappy-compress.hash-log2=9", "nic.depth=3"]
    assert parse_unit_settings(settings) == {
        "nic": {"queue": "2", "depth": "3"},
        "snappy-compress": {"hash-log2": "9"},
    }


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    row = Row("nic", "ab", "cd", 33.25, 3.5, 2_400_000_000, 10, 5, 0, 0.25, "a", "b")
    path = tmp_path / "table.csv"
    write_table([row], path)
    assert read_table(path) == {"ab": row}
