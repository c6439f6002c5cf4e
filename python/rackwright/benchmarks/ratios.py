"""Simulation speed relative to references, and its bounds: validation/ratios/table.csv."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from bootstrap.paths import REPOSITORY
from rackwright.benchmarks import cluster, cpu, linux, rtl
from rackwright.demo.archive import default_archive
from rackwright.reports.records import read_records

TABLE = REPOSITORY / "validation" / "ratios" / "table.csv"

_THREADS = 2
_RTL_BYTES = 1 << 17
Ratios = dict[str, float]


@dataclass(frozen=True)
class Bound:
    """The lower bound of a ratio of speeds, and its value at a commit.

    `figure` is a key of `FIGURES`, `case` one of its cases.
    """

    figure: str
    case: str
    least: float
    measured: float
    commit: str


@dataclass(frozen=True)
class Held:
    """A new measurement and its bound."""

    figure: str
    case: str
    ratio: float
    least: float

    @property
    def within(self) -> bool:
        """Whether it does."""
        return self.ratio >= self.least

    def record(self) -> dict[str, Any]:
        """As JSON holds it; see docs/json.md."""
        return asdict(self) | {"within": self.within}


def _threads(cases: Iterable[str]) -> Ratios:
    """Two threads over one, beside two processes over one: 1 is all that the machine can give."""
    speeds = {case: cluster.measure(case, _THREADS) for case in cases}
    return {case: speed.speedup / speed.ceiling for case, speed in speeds.items()}


def _qemu(_: Iterable[str]) -> Ratios:
    """Core models over `qemu-riscv64`, in instructions per second."""
    return {f"{row.program} on {row.cpu}": row.ratio for row in cpu.measure()}


def _verilator(cases: Iterable[str]) -> Ratios:
    """RTL stepped by the engine over a bare Verilator loop, in cycles per second."""
    data = default_archive(_RTL_BYTES)
    return {case: 1 / rtl.measure(case, data).ratio for case in cases}


def _guests(_: Iterable[str]) -> Ratios:
    """Guests relative to their references: user mode, a single busy hart; QEMU's boot relative to ours."""
    rows = {f"{row.figure}, {row.cpu}": row for row in linux.measure() if row.ratio is not None}
    return {case: 1 / row.ratio if row.unit == "s" else row.ratio for case, row in rows.items() if row.ratio}


FIGURES: dict[str, Callable[[Iterable[str]], Ratios]] = {
    "threads": _threads,
    "qemu": _qemu,
    "verilator": _verilator,
    "guests": _guests,
}
"""The measured figures; larger is better."""


def bounds(figure: str) -> dict[str, Bound]:
    """The committed bounds of a figure, by case."""
    return {row.case: row for row in read_records(TABLE, Bound) if row.figure == figure}


def measure(figure: str) -> list[Held]:
    """Measures every case of a figure that has a bound, beside it.

    Raises `KeyError` for a case of the table that is not measured.
    """
    least = {case: row.least for case, row in bounds(figure).items()}
    ratios = FIGURES[figure](least)
    return [Held(figure, case, ratios[case], bound) for case, bound in least.items()]
