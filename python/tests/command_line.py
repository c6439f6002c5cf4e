"""Runs `rw` as a user does."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bootstrap.builds import build_environment
from bootstrap.paths import VENV

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
    """Runs `./rw ARGUMENTS` with `stdin` to read.

    What the launcher does before is not done again, as all is built: it takes as long as the command itself.
    test_bootstrap.py is about it.
    """
    words = list(map(str, arguments))
    is_of_launcher = words[:1] == ["doctor"]
    command_line = (
        [REPOSITORY / "rw"] if is_of_launcher else [VENV / "bin" / "python", "-m", "rackwright.cli"]
    )
    result = subprocess.run(
        [*command_line, *words],
        env=build_environment(),
        capture_output=True,
        text=True,
        timeout=timeout,
        input=stdin,
        check=False,
    )
    assert "Traceback" not in result.stderr
    return Ended(result.returncode, result.stdout, result.stderr)
