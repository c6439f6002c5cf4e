"""The last complete run of each experiment: validation/record.csv."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bootstrap.paths import REPOSITORY
from rackwright.errors import RackwrightError
from rackwright.reports.history import git
from rackwright.reports.host import describe_host
from rackwright.reports.records import read_records, write_records
from rackwright.reproduce.experiment import Reproduction

TABLE = REPOSITORY / "validation" / "record.csv"

OLDEST = 50
"""Commits of engine or hardware after which an experiment should be repeated."""

_SOURCES = ("engine", "hardware")


@dataclass(frozen=True)
class Whole:
    """A run of an experiment, not a quick one, in which no row missed its limits without a known reason.

    `within` of its `rows` were within their limits or have none; the others were outside for a known reason.
    It ran in the state of `commit`, on `processor`, for `minutes`.
    """

    id: str
    commit: str
    rows: int
    within: int
    processor: str
    minutes: float

    @staticmethod
    def of(done: Reproduction) -> Whole:
        """From a run that has just ended. Raises `RackwrightError` outside a repository of Git."""
        rows = done.outcome.rows
        return Whole(
            id=done.experiment.id,
            commit=git("rev-parse", "--short=12", "HEAD").strip(),
            rows=len(rows),
            within=sum(row.within is not False for row in rows),
            processor=describe_host().split(",")[0],
            minutes=round(done.wall_seconds / 60, 1),
        )

    @property
    def age(self) -> int | None:
        """Commits since then that have changed engine or hardware; `None` if its commit no longer exists."""
        try:
            return int(git("rev-list", "--count", f"{self.commit}..HEAD", "--", *_SOURCES))
        except RackwrightError:
            return None


def read() -> dict[str, Whole]:
    """The record, by the names of experiments."""
    return {row.id: row for row in read_records(TABLE, Whole)}


def keep(done: Iterable[Reproduction]) -> None:
    """Records complete runs, each in place of the previous one; the others are not changed."""
    rows = read() | {each.experiment.id: Whole.of(each) for each in done if not each.failed}
    write_records(TABLE, Whole, (rows[name] for name in sorted(rows)))


def outdated(names: Iterable[str]) -> list[str]:
    """The experiments that should be repeated, with reasons, as sentences."""
    record = read()
    found = []
    for name in names:
        age = record[name].age if name in record else None
        if name not in record:
            found.append(f"{name}: has no record")
        elif age is None:
            found.append(f"{name}: was whole at {record[name].commit}, which is not in this repository")
        elif age > OLDEST:
            found.append(f"{name}: was whole {age} commits of engine or hardware ago")
    return found
