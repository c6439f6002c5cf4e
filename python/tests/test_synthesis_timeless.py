"""Mapping runs in an environment whose clocks say 0."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rackwright.synthesis.library import DEFAULT_LIBERTY
from rackwright.synthesis.timeless import without_clock

needs_tools = pytest.mark.skipif(
    not DEFAULT_LIBERTY.exists(), reason="the packages of synthesis are not installed"
)


def _times(environment: dict[str, str] | None) -> tuple[float, float]:
    script = "import time; print(time.clock_gettime(time.CLOCK_PROCESS_CPUTIME_ID), time.time())"
    output = subprocess.run(
        [sys.executable, "-c", script], env=environment, check=True, capture_output=True, text=True
    ).stdout
    processor, wall = map(float, output.split())
    return processor, wall


@needs_tools
def test_no_clock_of_a_program_goes_on(tmp_path: Path) -> None:
    assert _times(without_clock(tmp_path / "new")) == (0, 0)
    assert min(_times(None)) > 0


@needs_tools
def test_what_it_needs_is_compiled_once(tmp_path: Path) -> None:
    without_clock(tmp_path)
    (made,) = tmp_path.iterdir()
    first = made.stat().st_mtime_ns
    assert without_clock(tmp_path)["LD_PRELOAD"] == str(made)
    assert made.stat().st_mtime_ns == first
