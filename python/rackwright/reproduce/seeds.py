"""Experiments with guests: the same with several seeds, in parallel, and their combined result.

The behaviour of a guest is chaotic: any event that moves by a nanosecond changes a rate of iperf3 by some
percent, and a 95th percentile of latencies by more. One run is therefore one of many that could have been.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, as_completed
from dataclasses import replace
from math import comb
from statistics import median

from rackwright.exploration.executors import executor
from rackwright.reports.host import available_processors
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.kept import folder_of, keep, kept

SEEDS = tuple(range(6))
"""The smallest number whose extremes enclose the median with 95 % confidence."""

CONFIDENCE = 0.95


def over_seeds(experiment: Experiment, settings: Settings, seeds: Sequence[int] = SEEDS) -> Outcome:
    """Measures each seed without a stored result, as many at a time as there are processors.

    Raises the exception of a run; completed results of others are stored.
    """
    folder = folder_of(experiment.id)
    files = {seed: folder / f"{seed}.json" for seed in seeds}
    missing = [seed for seed, file in files.items() if not file.exists()]
    settings.detail(f"{experiment.id}: {len(missing)} of {len(seeds)} seeds are to be run")
    with executor("local", min(len(missing), available_processors())) as pool:
        runs: dict[Future[Outcome], int] = {
            pool.submit(_measured, experiment.measure, seed): seed for seed in missing
        }
        for done in as_completed(runs):
            keep(files[runs[done]], done.result())
            settings.detail(f"{experiment.id}: seed {runs[done]} is done")
    return together({seed: kept(file) for seed, file in files.items()})


def together(outcomes: dict[int, Outcome]) -> Outcome:
    """Rows of medians with their intervals, the pictures of the first seed, and all digests."""
    first, *_ = outcomes.values()
    rows = []
    for index, row in enumerate(first.rows):
        values = [outcome.rows[index].ours for outcome in outcomes.values()]
        rows.append(replace(row, ours=median(values), interval=median_interval(values)))
    digests = [digest for outcome in outcomes.values() for digest in outcome.digests]
    return Outcome(rows, first.charts, digests, list(outcomes))


def median_interval(values: Sequence[float]) -> tuple[float, float]:
    """The narrowest two values that enclose the median of their distribution with 95 % confidence.

    By the sign test, for any distribution. Raises `ValueError` for fewer than six.
    """
    ordered, count = sorted(values), len(values)
    missed, outside = 0.0, 0
    while outside < count // 2:
        missed += 2 * comb(count, outside) / 2**count
        if missed > 1 - CONFIDENCE:
            break
        outside += 1
    if outside == 0:
        raise ValueError(f"{count} values say nothing about their median with 95 % confidence")
    return ordered[outside - 1], ordered[count - outside]


def _measured(measure: Callable[[Settings], Outcome], seed: int) -> Outcome:
    return measure(Settings(seed=seed))
