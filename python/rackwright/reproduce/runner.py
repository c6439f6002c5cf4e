"""Runs experiments, one after another."""

from __future__ import annotations

import time
from collections.abc import Iterable

from rackwright.reproduce.experiment import Reproduction, Settings
from rackwright.reproduce.registry import chosen
from rackwright.reproduce.seeds import over_seeds


def reproduce(*ids: str, settings: Settings | None = None) -> list[Reproduction]:
    """Runs the experiments with these names; all of them if no name is given.

    Raises `RackwrightError` for an unknown name, before anything is run.
    """
    return list(reproductions(ids, settings or Settings()))


def reproductions(ids: Iterable[str], settings: Settings) -> Iterable[Reproduction]:
    """The same, yielding each as soon as it is complete."""
    for experiment in chosen(ids):
        settings.detail(f"{experiment.id}: {experiment.title}")
        started = time.perf_counter()
        chaotic = experiment.guests and not settings.quick
        outcome = over_seeds(experiment, settings) if chaotic else experiment.measure(settings)
        yield Reproduction(experiment, outcome, time.perf_counter() - started)
