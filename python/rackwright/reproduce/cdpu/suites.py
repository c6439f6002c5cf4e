"""The suites that the figures of chapter 7 are measured with, generated when they are first needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bootstrap.paths import REPOSITORY
from rackwright.errors import RackwrightError
from rackwright.generation import Profile, generate, load_profile, load_suite
from rackwright.generation.profile import OperationProfile

FILES = 8000
"""Calls of a suite (Karandikar 2024, section 7.4)."""

_QUICK_FILES, _QUICK_LOG2 = 100, 14
"""A quick suite has the profile's calls of at most 16 KiB only."""

_SEED = 1


def suite(
    profile: str,
    operation: str,
    progress: Callable[[str], None],
    *,
    quick: bool = False,
    files: int = FILES,
) -> Path:
    """The folder of an operation's suite, with this number of files; the same bytes on every machine."""
    files = _QUICK_FILES if quick else files
    folder = REPOSITORY / "out" / "suites" / f"{profile}-{operation}-{files}"
    try:
        load_suite(folder)
    except RackwrightError:
        wanted = load_profile(profile)
        if quick:
            wanted = _small_calls(wanted)
        generate(wanted, folder, files=files, seed=_SEED, operation=operation, progress=progress)
    return folder


def _small_calls(profile: Profile) -> Profile:
    def without_large(each: OperationProfile) -> OperationProfile:
        return replace(each, sizes=tuple(size for size in each.sizes if size.log2 <= _QUICK_LOG2))

    return replace(profile, operations=tuple(map(without_large, profile.operations)))
