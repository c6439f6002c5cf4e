"""Common inputs of benchmarks of `rw bench`: files, and cores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rackwright.cli.accelerate import read_input
from rackwright.demo.archive import default_archive

Files = Annotated[list[Path] | None, typer.Argument(help="Files; the demo's archive by default.")]

Cores = Annotated[
    list[str] | None,
    typer.Option(metavar="CPU", help="The core beside the unit; rocket and boom by default."),
]


def named_inputs(files: list[Path] | None) -> list[tuple[str, bytes]]:
    """The files by name; without any, the demo's archive."""
    if not files:
        return [("archive", default_archive())]
    return [(path.name, read_input(path)) for path in files]
