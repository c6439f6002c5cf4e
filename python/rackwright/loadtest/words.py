"""Distributions and arrivals as the command line writes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rackwright.cli.forms import ARRIVAL_FORMS, WORK_FORMS
from rackwright.cluster.distributions import (
    Bimodal,
    Constant,
    Distribution,
    Empirical,
    Exponential,
    LogNormal,
)
from rackwright.cluster.loads import Bursty, Periodic, Poisson, Trace
from rackwright.errors import RackwrightError
from rackwright.loadtest.plan import OpenLoop

_WORK: dict[str, tuple[Callable[..., Distribution], int]] = {
    "constant": (Constant, 1),
    "exponential": (Exponential, 1),
    "bimodal": (Bimodal, 3),
    "log-normal": (LogNormal, 2),
}


def parse_work(text: str) -> Distribution:
    """A distribution of durations from one of `WORK_FORMS`. Raises `RackwrightError` for anything else."""
    name, _, rest = text.partition(":")
    if name == "trace":
        return Empirical(_numbers_in(rest))
    make, count = _WORK.get(name, (None, 0))
    numbers = _numbers(rest)
    if make is None or numbers is None or len(numbers) != count:
        raise RackwrightError(f"'{text}' is no duration; write {WORK_FORMS}, in microseconds")
    return make(*numbers)


def parse_arrivals(text: str, rate: float) -> OpenLoop:
    """Arrivals with a mean `rate` per second from one of `ARRIVAL_FORMS`; a trace has its own rate.

    Raises `RackwrightError` for anything else.
    """
    name, _, rest = text.partition(":")
    if name == "trace":
        return Trace(_numbers_in(rest))
    if text == "poisson":
        return Poisson(rate)
    if text == "constant":
        return Periodic(rate)
    numbers = _numbers(rest)
    if name == "bursty" and numbers is not None and len(numbers) == 3:
        return _bursty(text, rate, *numbers)
    raise RackwrightError(f"'{text}' is no kind of arrivals; write {ARRIVAL_FORMS}")


def _bursty(text: str, rate: float, factor: float, fraction: float, burst_us: float) -> Bursty:
    """Bursts of `factor` times the mean rate in `fraction` of the time, `burst_us` long on the average."""
    if not (0 < fraction < 1 and factor >= 1 and factor * fraction <= 1 and burst_us > 0):
        raise RackwrightError(
            f"'{text}': bursts are FACTOR >= 1 times the mean rate in a FRACTION of the time, and FACTOR x "
            "FRACTION is 1 at most"
        )
    quiet = rate * (1 - factor * fraction) / (1 - fraction)
    return Bursty(quiet, rate * factor, burst_us * (1 - fraction) / fraction, burst_us)


def _numbers(text: str) -> list[float] | None:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        return None


def _numbers_in(name: str) -> list[float]:
    """The numbers of a file, one on each line."""
    try:
        lines = Path(name).read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise RackwrightError(f"{name or 'a trace'}: cannot be read ({error})") from None
    numbers = []
    for count, line in enumerate(lines, 1):
        if line.strip():
            try:
                numbers.append(float(line))
            except ValueError:
                raise RackwrightError(f"{name}:{count}: '{line.strip()}' is no number") from None
    if not numbers:
        raise RackwrightError(f"{name}: holds no numbers; a trace has one on each line, in microseconds")
    return numbers
