"""Git data of this repository."""

from __future__ import annotations

import subprocess

from bootstrap.paths import REPOSITORY
from rackwright.errors import RackwrightError


def git(*arguments: str) -> str:
    """The output of `git`. Raises `RackwrightError` with its reason when it fails."""
    result = subprocess.run(["git", *arguments], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise RackwrightError(f"git: {result.stderr.strip().splitlines()[0]}")
    return result.stdout
