"""What an experiment of a paper is here, and what it comes to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """One quantity: the paper's number, if it has one, and ours, in `unit`.

    `within_percent` says how far ours may be from the paper's; `at_least` is a bar that ours must reach.
    `known` is the reason why a row that misses its limit does: an expected difference, not a failure, as
    long as ours lies in its `band`, from the least to the most, in `unit`.
    """

    quantity: str
    paper: float | None
    ours: float
    unit: str
    within_percent: float | None = None
    at_least: float | None = None
    known: str = ""
    band: tuple[float, float] | None = None

    @property
    def difference_percent(self) -> float | None:
        """How far ours is above the paper's."""
        return 100 * (self.ours / self.paper - 1) if self.paper else None

    @property
    def within(self) -> bool | None:
        """Whether ours keeps its limits; None when it has none."""
        kept = []
        if self.within_percent is not None and self.paper is not None:
            kept.append(abs(self.ours - self.paper) <= self.within_percent / 100 * abs(self.paper))
        if self.at_least is not None:
            kept.append(self.ours >= self.at_least)
        return all(kept) if kept else None

    @property
    def failed(self) -> bool:
        """Whether it misses a limit for no known reason, or by more than that explains."""
        return self.within is False and not self.explained

    @property
    def explained(self) -> bool:
        """Whether the known reason accounts for where ours is."""
        if self.band is None:
            return bool(self.known)
        least, most = self.band
        return bool(self.known) and least <= self.ours <= most

    def record(self) -> dict[str, Any]:
        """As JSON holds it; see docs/json.md."""
        return {**asdict(self), "difference_percent": self.difference_percent, "within": self.within}


@dataclass(frozen=True)
class Outcome:
    """What measuring gave: rows, pictures as SVG, and the digests of the runs, in order."""

    rows: Sequence[Row]
    charts: Sequence[str] = ()
    digests: Sequence[str] = ()


@dataclass(frozen=True)
class Settings:
    """How an experiment is to be run: `quick` ones take seconds, and are less exact.

    `detail` is told what is under way.
    """

    quick: bool = False
    detail: Callable[[str], None] = lambda _: None


@dataclass(frozen=True)
class Experiment:
    """A figure or table of a paper that can be made again.

    `id` names it on the command line, `source` the document and section, `runs` what is simulated.
    """

    id: str
    title: str
    source: str
    runs: str
    measure: Callable[[Settings], Outcome]

    def record(self) -> dict[str, Any]:
        """Without its result, as JSON holds it."""
        return {"id": self.id, "title": self.title, "source": self.source, "runs": self.runs}


@dataclass(frozen=True)
class Reproduction:
    """An experiment that was run, which took `wall_seconds` of real time."""

    experiment: Experiment
    outcome: Outcome
    wall_seconds: float

    @property
    def failed(self) -> bool:
        """Whether any row misses a limit for no known reason."""
        return any(row.failed for row in self.outcome.rows)

    def record(self) -> dict[str, Any]:
        """As JSON holds it; see docs/json.md."""
        return {
            **self.experiment.record(),
            "rows": [row.record() for row in self.outcome.rows],
            "digests": list(self.outcome.digests),
            "wall_seconds": self.wall_seconds,
            "failed": self.failed,
        }
