"""The end of benchmarks of `rw bench` whose rows say whether all results were right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Protocol, TypeVar

import typer

from rackwright.cli.output import EXIT_FAILED, print_json, print_table

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    class VerifiedRow(DataclassInstance, Protocol):
        """A row of a table; see docs/json.md."""

        @property
        def verified(self) -> bool:
            """Whether all of its results were right."""


Row = TypeVar("Row", bound="VerifiedRow")


def report(
    rows: Sequence[Row],
    columns: Sequence[tuple[str, str]],
    cells: Callable[[Row], list[str]],
    *,
    json: bool,
) -> None:
    """Prints rows as JSON, or as a table, which has a last column of whether they were verified.

    Ends the command with status 1 if one was not.
    """
    if json:
        print_json({"rows": [asdict(row) for row in rows]})
    else:
        verified = [[*cells(row), "yes" if row.verified else "NO"] for row in rows]
        print_table([*columns, ("verified", "left")], verified)
    if not all(row.verified for row in rows):
        raise typer.Exit(EXIT_FAILED)
