"""`rw trace`: the contents of a trace, as text."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rackwright.cli.profile import hart_numbers
from rackwright.errors import RackwrightError
from rackwright.tracing.trace import PRIVILEGES, Trace, read_trace

if TYPE_CHECKING:
    import pandas as pd


def trace(
    file: Annotated[
        Path, typer.Argument(help="A trace written by `rw profile --trace FILE`.", metavar="FILE")
    ],
    harts: Annotated[str, typer.Option(metavar="LIST", help="Only these harts, such as 0,1.")] = "",
    privileges: Annotated[
        str, typer.Option(metavar="MODES", help="Only these modes: letters of U, S and M.")
    ] = "USM",
    begin: Annotated[
        int, typer.Option("--from", min=0, metavar="CYCLE", help="Only from this cycle on.")
    ] = 0,
    end: Annotated[
        int | None, typer.Option("--to", min=0, metavar="CYCLE", help="Only before this cycle.")
    ] = None,
    lines: Annotated[int, typer.Option(min=0, metavar="N", help="Maximum number of lines; 0: all.")] = 0,
) -> None:
    """Print the executed instructions of a trace.

    Each line has a hart, the cycle in which the instruction's block ended, the mode, `satp`, the virtual
    address and the instruction word. Instructions of one hart are in program order. A truncated or damaged
    file is printed up to the damage, which is reported.

    Examples:
        ./rw trace app.trace --lines 100

        ./rw trace boot.trace --harts 1 --privileges U --from 2_000_000 --to 2_100_000

    """
    if not file.is_file():
        raise RackwrightError(f"{file}: no such file")
    found = read_trace(
        file, harts=hart_numbers(harts) or None, privileges=_modes(privileges), cycles=(begin, end)
    )
    try:
        for line in islice(_lines(found), lines or None):
            sys.stdout.write(line)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has closed the pipe; buffered output must not be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _modes(letters: str) -> set[str]:
    unknown = set(letters) - set(PRIVILEGES)
    if unknown or not letters:
        raise RackwrightError(f"--privileges {letters}: letters of {', '.join(PRIVILEGES)}")
    return set(letters)


def _lines(found: Trace) -> Iterator[str]:
    letters = {number: letter for letter, number in PRIVILEGES.items()}
    for frame in found.instructions():
        yield from _text(frame, letters)


def _text(frame: pd.DataFrame, letters: dict[int, str]) -> Iterator[str]:
    for hart, cycle, privilege, space, address, word in zip(
        *(frame[name].tolist() for name in frame.columns), strict=True
    ):
        digits = 8 if word & 3 == 3 else 4
        yield f"{hart:2} {cycle:14} {letters[privilege]} {space:#018x} {address:#018x} {word:0{digits}x}\n"
