"""The suites that the figures of chapter 7 are measured with, generated when they are first needed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bootstrap.paths import REPOSITORY
from rackwright.errors import RackwrightError
from rackwright.generation import generate, load_profile, load_suite

FILES = 8000
"""Calls of a suite (Karandikar 2024, section 7.4)."""

_SEED = 1


def suite(profile: str, operation: str, progress: Callable[[str], None]) -> Path:
    """The folder of the suite of an operation; the same bytes on every machine."""
    folder = REPOSITORY / "out" / "suites" / f"{profile}-{operation}-{FILES}"
    try:
        load_suite(folder)
    except RackwrightError:
        generate(
            load_profile(profile), folder, files=FILES, seed=_SEED, operation=operation, progress=progress
        )
    return folder
