"""`rw doctor` inside the virtual environment; `rw` itself answers it before anything is built."""

from __future__ import annotations

import typer

from bootstrap.doctor import main as run_doctor
from rackwright.cli.output import JsonOption


def doctor(json: JsonOption = False) -> None:
    """Say what is installed, what is missing and how to get it. Works before anything is built."""
    raise typer.Exit(run_doctor(["--json"] if json else []))
