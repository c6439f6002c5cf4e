"""A service on Linux with four harts, by its libraries and by units for Snappy and Protocol Buffers."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from bootstrap.paths import REPOSITORY


@pytest.mark.long("a boot of four harts, and requests to a server with sixteen units and to one with none")
def test_requests_are_answered_right_and_sooner_by_units(tmp_path: Path) -> None:
    example = runpy.run_path(str(REPOSITORY / "examples" / "clusters" / "linux_service.py"))
    checkpoint = example["booted"](tmp_path)
    by_library = example["service"](checkpoint, (), 2)
    by_units = example["service"](checkpoint, example["UNITS"], 2)
    for result in (by_library, by_units):
        assert set(result.servers["exit_code"]) == {0}, result.servers["stdout"].to_dict()
    assert by_units.servers["unit_cycles"].sum() > by_library.servers["unit_cycles"].sum()
    assert example["microseconds"](by_units) < example["microseconds"](by_library)
