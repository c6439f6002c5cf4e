"""Figures 7.11 to 7.13: Snappy units over placements, history and hash entries."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from bootstrap.paths import REPOSITORY
from rackwright.exploration import Exploration, Space, explore
from rackwright.exploration.executors import executor
from rackwright.reproduce.cdpu.suites import FILES, suite
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.lines import line_chart
from rackwright.reproduce.reference import compare

STANDARD_ERROR, QUICK_STANDARD_ERROR = 0.02, 0.1
SIZES_KIB = (2, 4, 8, 16, 32, 64)


@dataclass(frozen=True)
class Figure:
    """A figure: its unit, what varies over the x axis, and the placements that have a line."""

    number: str
    title: str
    operation: str
    parameter: str
    settings: Mapping[str, tuple[int, ...]]
    placements: tuple[str, ...]
    quantities: Callable[[Speeds], dict[str, float]]

    def space(self, quick: bool) -> Space:
        """Every bar of the figure."""
        return Space(
            unit=f"snappy-{self.operation}",
            suite=None,
            parameters={},
            settings=self.settings,
            placements=self.placements,
            standard_error=QUICK_STANDARD_ERROR if quick else STANDARD_ERROR,
            seed=1,
        )


class Speeds:
    """GB/s and ratio by the value on the x axis and the placement."""

    def __init__(self, done: Exploration, parameter: str) -> None:
        found = {(dict(each.point.settings)[parameter], each.point.placement): each for each in done.results}
        self.speed = {place: each.gigabytes_per_second for place, each in found.items()}
        self.ratio = {place: each.ratio for place, each in found.items()}

    def lines(self) -> dict[str, list[tuple[float, float]]]:
        """A line for each placement."""
        lines: dict[str, list[tuple[float, float]]] = {}
        for (value, placement), speed in sorted(self.speed.items()):
            lines.setdefault(placement, []).append((float(value), speed))
        return lines


def decompression(speeds: Speeds) -> dict[str, float]:
    """What the text says of figure 7.11."""
    near, speed = speeds.speed[64, "near-core"], speeds.speed
    return {
        "near-core, 64 KiB": near,
        "2 KiB over 64 KiB, near-core": speed[2, "near-core"] / near,
        "chiplet over near-core, 64 KiB": speed[64, "chiplet"] / near,
        "near-core over PCIe without cache, 64 KiB": near / speed[64, "pcie"],
        "near-core over PCIe with cache, 64 KiB": near / speed[64, "pcie-cached"],
        "2 KiB over 64 KiB, PCIe without cache": speed[2, "pcie"] / speed[64, "pcie"],
        "2 KiB over 64 KiB, PCIe with cache": speed[2, "pcie-cached"] / speed[64, "pcie-cached"],
    }


def compression(speeds: Speeds) -> dict[str, float]:
    """What the text says of figures 7.12 and 7.13, as far as it is about speed and ratio."""
    entries, fewer = 1 << 14, 1 << 9
    speed = speeds.speed
    near = speed[entries, "near-core"]
    return {
        "near-core, 2^14 entries": near,
        "2^9 over 2^14 entries, near-core": speed[fewer, "near-core"] / near,
        "chiplet over near-core, 2^14 entries": speed[entries, "chiplet"] / near,
        "near-core over PCIe, 2^14 entries": near / speed[entries, "pcie"],
        "ratio of 2^9 over that of 2^14 entries": (
            speeds.ratio[fewer, "near-core"] / speeds.ratio[entries, "near-core"]
        ),
    }


FIGURES = (
    Figure(
        "7.11",
        "Snappy decompression over placements and history on chip",
        "decompress",
        "history_kib",
        {"history_kib": SIZES_KIB},
        ("near-core", "chiplet", "pcie-cached", "pcie"),
        decompression,
    ),
    Figure(
        "7.12",
        "Snappy compression over placements and entries of the hash table",
        "compress",
        "hash_entries",
        {"hash_entries": (512, 4096, 16384)},
        ("near-core", "chiplet", "pcie"),
        compression,
    ),
)


def _measure(figure: Figure, settings: Settings) -> Outcome:
    calls = suite("snappy-fleet", figure.operation, settings.detail)
    with executor("local", os.cpu_count()) as pool:
        done = explore(
            figure.space(settings.quick),
            suite=calls,
            folder=REPOSITORY / "out" / "explore" / f"cdpu-{figure.number}",
            executor=pool,
            progress=settings.detail,
        )
    speeds = Speeds(done, figure.parameter)
    table = f"cdpu/figure_{figure.number.replace('.', '_')}.csv"
    chart = line_chart(figure.title, figure.parameter, "GB/s", speeds.lines())
    return Outcome(compare(table, figure.quantities(speeds)), [chart], [done.digest])


EXPERIMENTS: Sequence[Experiment] = tuple(
    Experiment(
        f"cdpu-{figure.number}",
        figure.title,
        f"Karandikar 2024, section 7.6, figure {figure.number}",
        f"The unit in RTL over a sample of {FILES:,} calls like those of a fleet, at every placement.",
        partial(_measure, figure),
    )
    for figure in FIGURES
)
