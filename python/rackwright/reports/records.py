"""Tables in CSV: a column for each field of a dataclass, a row for each of its values."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, get_type_hints

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Record = TypeVar("Record", bound="DataclassInstance")
"""A dataclass whose fields are texts and numbers."""


def write_records(path: Path, kind: type[Record], rows: Iterable[Record]) -> None:
    """Writes a table."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(field.name for field in fields(kind))
        writer.writerows(asdict(row).values() for row in rows)


def read_records(path: Path, kind: type[Record]) -> list[Record]:
    """The rows of a table; empty if there is no file."""
    if not path.exists():
        return []
    types = get_type_hints(kind)
    with open(path, encoding="utf-8", newline="") as file:
        return [
            kind(**{name: types[name](value) for name, value in row.items()}) for row in csv.DictReader(file)
        ]
