"""Runs experiments, one after another."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from rackwright.reproduce.experiment import Experiment, Outcome, Reproduction, Settings
from rackwright.reproduce.kept import folder_of, keep, kept
from rackwright.reproduce.registry import chosen
from rackwright.reproduce.seeds import over_seeds


def reproduce(*ids: str, settings: Settings | None = None) -> list[Reproduction]:
    """Runs the experiments with these names; all of them if no name is given.

    Raises `RackwrightError` for an unknown name, before anything is run.
    """
    return list(reproductions(ids, settings or Settings()))


def reproductions(ids: Iterable[str], settings: Settings) -> Iterable[Reproduction]:
    """The same, yielding each as soon as it is complete.

    A run that was interrupted leaves the results of its complete experiments for the next one, which begins
    with them; quick experiments are repeated.
    """
    experiments = chosen(ids)
    for experiment in experiments:
        settings.detail(f"{experiment.id}: {experiment.title}")
        started = time.perf_counter()
        outcome = experiment.measure(settings) if settings.quick else _whole(experiment, settings)
        yield Reproduction(experiment, outcome, time.perf_counter() - started)
    for experiment in experiments:
        _file(experiment).unlink(missing_ok=True)


def _file(experiment: Experiment) -> Path:
    return folder_of(experiment.id) / "whole.json"


def _whole(experiment: Experiment, settings: Settings) -> Outcome:
    if experiment.guests:
        return over_seeds(experiment, settings)
    file = _file(experiment)
    if not file.exists():
        keep(file, experiment.measure(settings))
    return kept(file)
