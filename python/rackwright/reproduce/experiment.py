"""Experiments of papers, and their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from math import inf
from typing import Any


@dataclass(frozen=True)
class Row:
    """One quantity: the paper's number, if it has one, and ours, in `unit`.

    `within_percent` is the allowed difference from the paper's number; `at_least` is a bar for ours. `known`
    is the reason why a row misses its limit: an expected difference, not a failure, as long as our number is
    in its `band`, from minimum to maximum, in `unit`.

    Of a run with guests, ours is the median over several seeds, and `interval` holds that median with 95 %
    confidence. A limit then judges the interval: it is missed when no number in the interval keeps it.
    """

    quantity: str
    paper: float | None
    ours: float
    unit: str
    within_percent: float | None = None
    at_least: float | None = None
    known: str = ""
    band: tuple[float, float] | None = None
    interval: tuple[float, float] | None = None

    @property
    def difference_percent(self) -> float | None:
        """The relative difference of our number from the paper's."""
        return 100 * (self.ours / self.paper - 1) if self.paper else None

    @property
    def within(self) -> bool | None:
        """Whether ours keeps its limits, or a number of its interval does; None when it has none."""
        least, most = self.limits
        if (least, most) == (-inf, inf):
            return None
        low, high = self.interval or (self.ours, self.ours)
        return max(low, least) <= min(high, most)

    @property
    def decided(self) -> bool:
        """Whether all numbers of the interval keep the limits, or none does."""
        least, most = self.limits
        low, high = self.interval or (self.ours, self.ours)
        return not self.within or (least <= low and high <= most)

    @property
    def limits(self) -> tuple[float, float]:
        """The minimum and the maximum of our number."""
        least, most = -inf, inf
        if self.within_percent is not None and self.paper is not None:
            off = self.within_percent / 100 * abs(self.paper)
            least, most = self.paper - off, self.paper + off
        if self.at_least is not None:
            least = max(least, self.at_least)
        return least, most

    @property
    def failed(self) -> bool:
        """Whether it misses a limit for no known reason, or by more than that explains."""
        return self.within is False and not self.explained

    @property
    def explained(self) -> bool:
        """Whether the known reason explains our number."""
        if self.band is None:
            return bool(self.known)
        least, most = self.band
        return bool(self.known) and least <= self.ours <= most

    def record(self) -> dict[str, Any]:
        """As JSON holds it; see docs/json.md."""
        return {**asdict(self), "difference_percent": self.difference_percent, "within": self.within}

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Row:
        """From the output of `record`, also after conversion to JSON."""
        known = {each.name: record[each.name] for each in fields(cls)}
        pairs = {name: tuple(known[name]) for name in ("band", "interval") if known[name] is not None}
        return cls(**(known | pairs))


@dataclass(frozen=True)
class Outcome:
    """The results of a measurement: rows, pictures as SVG, and the digests of the runs, in order.

    `seeds` are those over which rows are medians; empty for an experiment without guests.
    """

    rows: Sequence[Row]
    charts: Sequence[str] = ()
    digests: Sequence[str] = ()
    seeds: Sequence[int] = ()


@dataclass(frozen=True)
class Settings:
    """The mode of an experiment: `quick` ones take seconds, and are less accurate.

    `detail` is called with the current step. With another `seed`, guests begin their work a little later.
    """

    quick: bool = False
    seed: int = 0
    detail: Callable[[str], None] = lambda _: None


@dataclass(frozen=True)
class Experiment:
    """A reproducible figure or table of a paper.

    `id` names it on the command line, `source` is the document and section, `runs` the simulated system. The
    behaviour of `guests`, which boot an operating system, is chaotic: they run with several seeds.
    """

    id: str
    title: str
    source: str
    runs: str
    measure: Callable[[Settings], Outcome]
    guests: bool = False

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
            "seeds": list(self.outcome.seeds),
            "wall_seconds": self.wall_seconds,
            "failed": self.failed,
        }
