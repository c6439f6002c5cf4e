"""Experiments that measure the figures of chapter 7, with `rw explore` as their engine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from math import isnan

from bootstrap.paths import REPOSITORY
from rackwright.exploration import Exploration, explore
from rackwright.exploration.executors import executor
from rackwright.reports.plots import line_chart
from rackwright.reproduce.cdpu.bars import Bars
from rackwright.reproduce.cdpu.figures import FIGURES, Figure
from rackwright.reproduce.cdpu.suites import FILES, suite
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.reference import compare

STORE = REPOSITORY / "out" / "explore" / "cdpu"
"""All figures share one store: common points are measured once, and an interrupted run resumes."""

_PAPER_HOURS = 6 + 110


def sweep(figure: Figure, settings: Settings) -> list[Exploration]:
    """Measures every bar of a figure that has not been."""
    calls = suite(figure.profile, figure.operation, settings.detail, quick=settings.quick)
    with executor("local", os.cpu_count()) as pool:
        return [
            explore(space, suite=calls, folder=STORE, executor=pool, progress=settings.detail)
            for space in figure.wanted(settings.quick)
        ]


def _measure(figure: Figure, settings: Settings) -> Outcome:
    done = sweep(figure, settings)
    bars = Bars(done, figure.varied, figure.usual)
    measured = bars.speeds() | figure.quantities(bars)
    if settings.quick:
        measured = {name: value for name, value in measured.items() if not isnan(value)}
    chart = line_chart(figure.title, "history, KiB", "GB/s", bars.lines())
    rows = compare(figure.table, measured, partial=settings.quick)
    return Outcome(rows, [chart], [each.digest for each in done])


def _measure_time(settings: Settings) -> Outcome:
    explorations = [each for figure in FIGURES for each in sweep(figure, settings)]
    # A point that two figures show was measured once.
    points = {each.point: each for done in explorations for each in done.results}
    hours = sum(each.core_seconds for each in points.values()) / 2 / 3600
    worst = max(each.standard_error for each in points.values())
    measured = {
        "hours on two cores": hours,
        "hours of the paper's sixteen FPGAs over ours": _PAPER_HOURS / hours,
        "points": len(points),
        "exactness of the least exact point": 100 * (1 - worst),
    }
    rows = compare("cdpu/time.csv", measured, partial=settings.quick)
    return Outcome(rows, [], [each.digest for each in explorations])


EXPERIMENTS: Sequence[Experiment] = (
    *(
        Experiment(
            f"cdpu-{figure.number}",
            figure.title,
            f"Karandikar 2024, section 7.6, figure {figure.number}",
            f"The unit in RTL over a sample of {FILES:,} calls like those of a fleet, at every placement.",
            partial(_measure, figure),
        )
        for figure in FIGURES
    ),
    Experiment(
        "cdpu-time",
        "Time of the whole exploration",
        "Karandikar 2024, appendix of chapter 7: 6 hours for Snappy, 110 for ZStd, on 16 FPGAs",
        "Every bar of figures 7.11 to 7.15, as far as it has not been measured before.",
        _measure_time,
    ),
)
