"""Runs `rw` as a user does."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    status: int
    stdout: str
    stderr: str

    def json(self) -> Any:
        """Standard output, which must be one JSON document and nothing else."""
        return json.loads(self.stdout)


def rw(*arguments: object, timeout: float = 1200, stdin: str = "") -> Ended:
    """Runs `./rw ARGUMENTS` with `stdin` to read."""
    result = subprocess.run(
        [REPOSITORY / "rw", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        input=stdin,
        check=False,
    )
    assert "Traceback" not in result.stderr
    return Ended(result.returncode, result.stdout, result.stderr)
