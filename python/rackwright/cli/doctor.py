"""`rw doctor` inside the virtual environment; before anything is built, `rw` itself runs it."""

from __future__ import annotations

from typing import Annotated

import typer

from bootstrap.doctor import main as run_doctor
from rackwright.cli.output import JsonOption


def doctor(
    install: Annotated[
        bool, typer.Option("--install", help="First install and build everything that any verb needs.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """List what is installed and missing, and how to get it. Works before anything is built.

    With --install, a machine can go offline afterwards: synthesis, protobuf, Linux, MPI and the test suite
    are installed. That takes some ten minutes and 5 GB.

    Examples:
        ./rw doctor

        ./rw doctor --install

    """
    options = {"--install": install, "--json": json}
    raise typer.Exit(run_doctor([name for name, on in options.items() if on]))
