"""`rw doctor` inside the virtual environment; `rw` itself answers it before anything is built."""

from __future__ import annotations

from typing import Annotated

import typer

from bootstrap.doctor import main as run_doctor
from rackwright.cli.output import JsonOption


def doctor(
    install: Annotated[
        bool, typer.Option("--install", help="First get and build all that any verb could need.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Say what is installed, what is missing and how to get it. Works before anything is built.

    With --install, a machine that goes offline afterwards has everything: synthesis, protobuf, Linux, MPI,
    the test suite. That takes some ten minutes and 5 GB.

    Examples:
        ./rw doctor

        ./rw doctor --install

    """
    options = {"--install": install, "--json": json}
    raise typer.Exit(run_doctor([name for name, on in options.items() if on]))
