"""The exploration itself: rounds of portions for every point, until each has the requested accuracy.

The first point of each placement and memory is measured before the others there, and more exactly: it is
their pilot, which they need to be compared with only. The first of all points is their pilot.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field, replace
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rackwright.exploration.built_design import BuiltDesign
from rackwright.exploration.calls import Call, CallSource
from rackwright.exploration.front import front
from rackwright.exploration.measure import Measured, Portion, measure
from rackwright.exploration.point import Point
from rackwright.exploration.sample import FIRST_PORTIONS, Estimate, Pilot, Regression, Sample
from rackwright.exploration.space import Space
from rackwright.exploration.store import Store, content_key
from rackwright.reports.host import provenance
from rackwright.unit.config import UnitConfig

if TYPE_CHECKING:
    import pandas as pd

_PILOT_SHARE = sqrt(0.5)
"""The error of pilots over that of the other points: half of their variance is its."""


@dataclass(frozen=True)
class Result:
    """A point's speed over the complete suite.

    `standard_error` is relative to the speed, `area_mm2` is the estimate of synthesis, if known. `on_front`:
    no other point with a known area is as small and as fast, and better in one of the two. `ratio` is all
    uncompressed over all compressed bytes of the suite, as estimated from the sample's calls; `library_ratio`
    is that of the official library at the calls' own levels. Both are None for a user's own unit. `calls`
    were measured, in `core_seconds` of the host's; `verified` when the official library, or the user's own
    check, agreed with every result.
    """

    point: Point
    gigabytes_per_second: float
    standard_error: float
    ratio: float | None
    library_ratio: float | None
    calls: int
    clock_hz: int
    verified: bool
    core_seconds: float
    area_mm2: float | None
    on_front: bool = False

    def record(self) -> dict[str, Any]:
        """As JSON holds it; see docs/json.md."""
        return {
            **self.point.record(),
            "gigabytes_per_second": self.gigabytes_per_second,
            "standard_error": self.standard_error,
            "ratio": self.ratio,
            "library_ratio": self.library_ratio,
            "calls": self.calls,
            "clock_hz": self.clock_hz,
            "area_mm2": self.area_mm2,
            "on_front": self.on_front,
            "verified": self.verified,
            "core_seconds": self.core_seconds,
        }


@dataclass(frozen=True)
class Exploration:
    """All points of a space, in its order; `reused` and `measured` count portions."""

    space: Space
    suite: str
    results: tuple[Result, ...]
    reused: int
    measured: int

    @property
    def digest(self) -> str:
        """Equal when every measured number is."""
        rows = [f"{each.point} {each.gigabytes_per_second!r} {each.ratio!r}" for each in self.results]
        return content_key(*rows)[:16]

    def varied(self) -> list[str]:
        """The names of the values that differ between points; without any, the placement."""
        records = [each.point.record() for each in self.results]
        names = [name for name in records[0] if len({record[name] for record in records}) > 1]
        return names or ["placement"]

    def record(self) -> dict[str, Any]:
        """As JSON holds it; see docs/json.md."""
        return {
            "unit": self.space.label,
            "suite_digest": self.suite,
            "standard_error": self.space.standard_error,
            "seed": self.space.seed,
            "reused_portions": self.reused,
            "measured_portions": self.measured,
            "digest": self.digest,
            "provenance": provenance(),
            "rows": [each.record() for each in self.results],
        }

    def frame(self) -> pd.DataFrame:
        """A row for each point, a column for each varied value."""
        import pandas as pd

        return pd.DataFrame([each.record() for each in self.results])


@dataclass(eq=False)
class _Progress:
    """The progress of one point: its requested accuracy, the number of portions, and those measured.

    `pilot` is the point that it is compared with.
    """

    point: Point
    design: BuiltDesign
    key: str
    error: float
    wanted: int
    pilot: _Progress | None = None
    done: dict[int, Measured] = field(default_factory=dict)


def explore(
    space: Space,
    *,
    suite: Path | None = None,
    folder: Path,
    executor: Executor,
    progress: Callable[[str], None] = lambda _: None,
) -> Exploration:
    """Measures every point of `space` over `suite` (or the space's own) with `executor`.

    Measurements are stored in `folder`; stored ones are not repeated. Raises `RackwrightError` for a suite
    without calls for the unit, and for a workload that is none.
    """
    with Store(folder / "points.sqlite") as store:
        return _Run(space, space.calls(suite), store, executor, progress).run()


_Quantity = Callable[[Call], float]


def _seconds(call: Call) -> float:
    return call.seconds


def _packed(call: Call) -> float:
    return call.compressed_bytes


_Waiting = dict[Future[Measured], tuple[_Progress, int]]
"""Portions in progress: the point and the number of each."""


class _Run:
    """One running exploration; only this process writes the store."""

    def __init__(
        self,
        space: Space,
        source: CallSource,
        store: Store,
        executor: Executor,
        progress: Callable[[str], None],
    ) -> None:
        self._space, self._source, self._store = space, source, store
        self._executor, self._progress = executor, progress
        calls = source.open()
        self._calls = calls
        self._sample = Sample([size for size, _ in calls.known], space.seed)
        self._regression = Regression(calls.known)
        self._bytes = sum(size for size, _ in calls.known)
        self._library_ratio = calls.library_ratio
        self._digest = calls.digest
        self._reused = self._measured = 0
        self._began = time.monotonic()

    def run(self) -> Exploration:
        points = [
            _Progress(
                point, design, key, self._space.standard_error, min(FIRST_PORTIONS, self._sample.portions)
            )
            for point, design, key in self._keyed()
        ]
        first = points[0]
        leading = {point.point.surroundings(): point for point in reversed(points)}
        for point in points:
            pilot = leading[point.point.surroundings()]
            point.pilot = pilot if point is not pilot else first if point is not first else None
        pilots = [point for point in leading.values() if any(each.pilot is point for each in points)]
        for point in pilots:
            point.error *= _PILOT_SHARE
        for stage in (
            [first],
            [each for each in pilots if each is not first],
            [each for each in points if each not in pilots],
        ):
            self._finish(stage, points)
        results = _marked([self._result(point) for point in points])
        return Exploration(self._space, self._digest, results, self._reused, self._measured)

    def _finish(self, asked: Sequence[_Progress], points: Sequence[_Progress]) -> None:
        """Measures the selected points."""
        waiting: _Waiting = {}
        for point in asked:
            self._ask(point, waiting)
        while waiting:
            finished, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in finished:
                point, number = waiting.pop(future)
                measured = future.result()
                self._store.put(point.key, number, measured)
                point.done[number] = measured
                self._measured += 1
                self._ask(point, waiting)
            self._say(points, waiting)

    def _keyed(self) -> Iterator[tuple[Point, BuiltDesign, str]]:
        """Every point with the key of all that its measurements depend on; compiles each design once."""
        built: dict[UnitConfig, BuiltDesign] = {}
        order = content_key(*map(str, self._sample.order))
        for point in self._space.points():
            rtl = UnitConfig(point.config.unit, point.config.parameters)
            if rtl not in built:
                self._progress(f"compiling {rtl.unit} {rtl.parameters or ''}")
                built[rtl] = self._calls.design(rtl, synthesise=self._space.synthesise)
            parts = (built[rtl].key, point.key(), self._digest, order)
            yield point, built[rtl], content_key(*parts)

    def _ask(self, point: _Progress, waiting: _Waiting) -> None:
        """When all portions of a round are measured, starts the next one if the accuracy is insufficient."""
        if len(point.done) < point.wanted and any(each is point for each, _ in waiting.values()):
            return
        while True:
            for number in range(point.wanted):
                if number not in point.done and not self._take(point, number):
                    waiting[self._executor.submit(measure, self._portion(point, number))] = (point, number)
            if len(point.done) < point.wanted:
                return
            needed = min(
                self._total(point, _seconds).portions_needed(point.wanted, point.error), self._sample.portions
            )
            if needed == point.wanted:
                return
            point.wanted = needed

    def _take(self, point: _Progress, number: int) -> bool:
        measured = self._store.get(point.key, number)
        if measured is None:
            return False
        point.done[number] = measured
        self._reused += 1
        return True

    def _portion(self, point: _Progress, number: int) -> Portion:
        return Portion(point.point, self._source, number, self._sample.portion(number))

    def _measured_calls(self, point: _Progress) -> Sequence[Call]:
        return [call for number in range(point.wanted) for call in point.done[number].calls]

    def _total(self, point: _Progress, quantity: _Quantity) -> Estimate:
        """The quantity of all calls of the suite; by the pilot, if it has these calls and is exact enough."""
        found = {call.index: quantity(call) for call in self._measured_calls(point)}
        chances = self._sample.chances(point.wanted)
        if point.pilot is not None and point.wanted <= point.pilot.wanted:
            quantities = {call.index: quantity(call) for call in self._measured_calls(point.pilot)}
            pilot = Pilot(quantities, self._total(point.pilot, quantity))
            estimate = self._regression.total(found, chances, pilot)
            if estimate.inherited < point.error:
                return estimate
        return self._regression.total(found, chances)

    def _result(self, point: _Progress) -> Result:
        calls = self._measured_calls(point)
        seconds = self._total(point, _seconds)
        packed = self._total(point, _packed)
        return Result(
            point=point.point,
            gigabytes_per_second=self._bytes / seconds.total / 1e9,
            standard_error=seconds.standard_error,
            ratio=None if self._library_ratio is None else self._bytes / packed.total,
            library_ratio=self._library_ratio,
            calls=len(calls),
            clock_hz=calls[0].clock_hz,
            verified=all(call.verified for call in calls),
            core_seconds=sum(point.done[number].core_seconds for number in range(point.wanted)),
            area_mm2=point.design.area_mm2,
        )

    def _say(self, points: Sequence[_Progress], waiting: _Waiting) -> None:
        """The overall progress; the remaining time assumes the speed of previous portions."""
        rate = self._measured / (time.monotonic() - self._began)
        finished = sum(1 for point in points if len(point.done) == point.wanted)
        left = len(waiting) / rate
        self._progress(
            f"{finished} of {len(points)} points, {self._measured} portions measured, {self._reused} reused, "
            f"at least {left:.0f} s left"
        )


def _marked(results: Sequence[Result]) -> tuple[Result, ...]:
    """The results, with those on the front of speed over area marked."""
    known = [(place, each.area_mm2) for place, each in enumerate(results) if each.area_mm2 is not None]
    marks = front([(area, results[place].gigabytes_per_second) for place, area in known])
    chosen = {place for (place, _), mark in zip(known, marks, strict=True) if mark}
    return tuple(replace(each, on_front=place in chosen) for place, each in enumerate(results))
