"""Results are written to standard output, as a table or as JSON; everything else to standard error."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from bootstrap.console import say

if TYPE_CHECKING:
    from rich.progress import Progress

EXIT_FAILED = 1
"""Exit status when the work was done and its outcome is bad: malformed input, failed tests."""

EXIT_USAGE = 2
"""Exit status for a command line that makes no sense."""

_TABLE_WIDTH = 148
"""Columns that the widest table needs; a narrower terminal wraps its lines, which beats cells in tatters."""

results = Console()
messages = Console(stderr=True)

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON (docs/json.md) instead of a table.")]


def print_json(value: Any) -> None:
    """Writes one JSON document to standard output, without colour and wrapping."""
    print(json.dumps(value, indent=2))


def print_table(columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[str]]) -> None:
    """Prints a table; a column is its title and its justification ("left" or "right")."""
    table = Table(header_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title, justify in columns:
        table.add_column(title, justify="right" if justify == "right" else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    Console(width=max(results.width, _TABLE_WIDTH)).print(table)


def print_record(pairs: Sequence[tuple[str, str]]) -> None:
    """Names and values, one pair a line."""
    width = max(len(name) for name, _ in pairs)
    for name, value in pairs:
        results.print(f"[bold]{name:<{width}}[/bold]  {value}", soft_wrap=True, highlight=False)


class Activity:
    """A long operation: in a terminal one line that changes, elsewhere a line for each part."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("", total=None)

    def begin(self, part: str) -> None:
        """A part begins."""
        if self._progress.disable:
            say(part)
        self.detail(part)

    def detail(self, text: str) -> None:
        """The progress of the part, shown only in a terminal."""
        self._progress.update(self._task, description=text)


@contextmanager
def working(part: str) -> Iterator[Activity]:
    """Shows the current operation on standard error, starting with `part`."""
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    silent = not messages.is_terminal
    with Progress(*columns, console=messages, transient=True, disable=silent) as progress:
        activity = Activity(progress)
        activity.begin(part)
        yield activity


def human_bytes(count: int) -> str:
    """A number of bytes for people, for example "1.0 MiB"."""
    value = float(count)
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            return f"{count} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GiB"
