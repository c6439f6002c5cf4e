"""The rows of an experiment as text, the same in the terminal and in the report."""

from __future__ import annotations

from rackwright.reproduce.experiment import Row

COLUMNS = (
    ("quantity", "left"),
    ("unit", "left"),
    ("paper", "right"),
    ("ours", "right"),
    ("difference", "right"),
    ("limit", "right"),
    ("within", "left"),
)
"""Titles and justification of columns."""


def cells(row: Row) -> tuple[str, ...]:
    """The texts of one row."""
    return (
        row.quantity,
        row.unit,
        _number(row.paper),
        _ours(row),
        "" if row.difference_percent is None else f"{row.difference_percent:+.2f} %",
        _limit(row),
        _verdict(row),
    )


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:,.5g}"


def _ours(row: Row) -> str:
    if row.interval is None:
        return _number(row.ours)
    low, high = map(_number, row.interval)
    return f"{_number(row.ours)} ({low} to {high})"


def _limit(row: Row) -> str:
    limits = []
    if row.within_percent is not None:
        limits.append(f"{row.within_percent:g} %")
    if row.at_least is not None:
        limits.append(f">= {_number(row.at_least)}")
    return ", ".join(limits)


def _verdict(row: Row) -> str:
    if row.within is None:
        return ""
    if row.within:
        return "yes" if row.decided else "open"
    return f"no: {row.known}" if row.explained else "NO"
