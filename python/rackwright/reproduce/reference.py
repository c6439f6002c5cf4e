"""The papers' numbers, stored as tables in `validation/`, compared with ours.

A table has a line for each quantity: `quantity,paper,unit,within_percent,at_least,known`. Cells may be empty
except `quantity` and `unit`; `rackwright.reproduce.Row` describes them. A known difference may begin with the
band of our number: `0.9 to 1.0: the reason`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping

from bootstrap.paths import REPOSITORY
from rackwright.errors import RackwrightError
from rackwright.reproduce.experiment import Row

VALIDATION = REPOSITORY / "validation"

_BAND = re.compile(r"(-?[\d.]+) to (-?[\d.]+): (.+)")

_COLUMNS = ["quantity", "paper", "unit", "within_percent", "at_least", "known"]


def compare(table: str, measured: Mapping[str, float], *, partial: bool = False) -> list[Row]:
    """A row for each quantity in `validation/TABLE`, with the value in `measured` under the same name.

    A `partial` measurement has some of the quantities, of less than the table is about: no limit holds.
    Raises `RackwrightError` if the table is malformed, or if either side lacks a quantity of the other: a
    number that is silently omitted would look like one that agrees.
    """
    with open(VALIDATION / table, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames != _COLUMNS:
            raise RackwrightError(f"validation/{table}: its columns are not {', '.join(_COLUMNS)}")
        lines = list(reader)
    odd = {line["quantity"] for line in lines} ^ set(measured)
    if partial:
        odd -= {line["quantity"] for line in lines}
        nothing = {"within_percent": "", "at_least": "", "known": ""}
        lines = [line | nothing for line in lines if line["quantity"] in measured]
    if odd:
        raise RackwrightError(f"validation/{table} and the measurement differ in: {', '.join(sorted(odd))}")
    return [_row(table, line, measured[line["quantity"]]) for line in lines]


def _row(table: str, line: Mapping[str, str], ours: float) -> Row:
    def number(column: str) -> float | None:
        try:
            return float(line[column]) if line[column] else None
        except ValueError:
            where = f"validation/{table}, {line['quantity']}"
            raise RackwrightError(f"{where}: {column} is {line[column]!r}, not a number") from None

    band = _BAND.fullmatch(line["known"] or "")
    return Row(
        line["quantity"],
        number("paper"),
        float(ours),
        line["unit"],
        number("within_percent"),
        number("at_least"),
        band[3] if band else line["known"] or "",
        (float(band[1]), float(band[2])) if band else None,
    )
