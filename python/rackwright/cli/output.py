"""Results go to standard output, as a table or as JSON; everything else to standard error."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

EXIT_FAILED = 1
"""Exit status when the work was done and its outcome is bad: malformed input, failed tests."""

EXIT_USAGE = 2
"""Exit status for a command line that makes no sense."""

_TABLE_WIDTH = 136
"""Columns that the widest table needs; a narrower terminal wraps its lines, which beats cells in tatters."""

results = Console()
messages = Console(stderr=True)

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON (docs/json.md) instead of a table.")]


def print_json(value: Any) -> None:
    """One JSON document on standard output, exactly as it is: no colour, no wrapping."""
    print(json.dumps(value, indent=2))


def print_table(columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[str]]) -> None:
    """A table; a column is its title and how it is justified ("left" or "right")."""
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


@contextmanager
def working(text: str) -> Iterator[Progress]:
    """A line on standard error that shows that something is under way, where there is a terminal."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=messages, transient=True) as progress:
        progress.add_task(text, total=None)
        yield progress


def human_bytes(count: int) -> str:
    """A number of bytes for people, for example "1.0 MiB"."""
    value = float(count)
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            return f"{count} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GiB"
