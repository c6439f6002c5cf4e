"""Waiting times in multiples of the mean service time, by queueing theory (Kleinrock 1975)."""

from __future__ import annotations

import math


def exponential(load: float, cores: int, percent: float) -> tuple[float, float]:
    """Mean and percentile of the wait in M/M/k, where each of `cores` is busy for a share of `load`."""
    offered = load * cores
    all_busy = offered**cores / math.factorial(cores) / (1 - load)
    waiting = all_busy / (sum(offered**k / math.factorial(k) for k in range(cores)) + all_busy)
    spare = cores - offered
    return waiting / spare, max(0.0, math.log(waiting / (1 - percent / 100)) / spare)


def constant(load: float, percent: float) -> tuple[float, float]:
    """Mean and percentile of the wait in M/D/1."""
    low, high = 0.0, 100.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        if waits_at_most(load, middle) < percent / 100:
            low = middle
        else:
            high = middle
    return load / (2 * (1 - load)), high


def waits_at_most(load: float, wait: float) -> float:
    """The probability of a wait up to `wait` in M/D/1 (Erlang 1909); exact enough up to a load of 0.9."""
    terms = (
        (-load * (wait - k)) ** k / math.factorial(k) * math.exp(load * (wait - k))
        for k in range(math.floor(wait) + 1)
    )
    return (1 - load) * math.fsum(terms)
