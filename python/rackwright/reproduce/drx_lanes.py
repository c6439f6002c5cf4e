"""Lanes of DRX: the speed-up of kernels with more lanes."""

from __future__ import annotations

from statistics import geometric_mean

from rackwright.benchmarks import drx
from rackwright.reports.plots import line_chart
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.reference import compare

KERNELS = ("video", "sound", "brain", "redaction", "join")
QUICK_KERNELS = ("video", "redaction")
LANES = (32, 64, 128, 256)
TEXT_LANES = 128
"""The lanes of the text's unit."""


def measure(settings: Settings) -> Outcome:
    """About a minute, mostly for `sound`."""
    kernels = QUICK_KERNELS if settings.quick else KERNELS
    rows = []
    for row in drx.measure(drx.examples(kernels), LANES):
        settings.detail(f"drx-3.21: {row.kernel} on {row.lanes} lanes")
        rows.append(row)
    cycles = {(row.kernel, row.lanes): row.cycles for row in rows}
    gains = {lanes: [cycles[name, LANES[0]] / cycles[name, lanes] for name in kernels] for lanes in LANES}
    measured = {
        f"{name}, {lanes} lanes over {LANES[0]}": gain
        for lanes in LANES[1:]
        for name, gain in zip(kernels, gains[lanes], strict=True)
    }
    measured |= {
        f"{row.kernel}, part of its roofline at {TEXT_LANES} lanes": row.of_roofline
        for row in rows
        if row.lanes == TEXT_LANES
    }
    means = {lanes: geometric_mean(each) for lanes, each in gains.items()}
    if not settings.quick:
        measured["mean, 128 lanes over 32"] = means[128]
        measured["mean, 128 lanes over 256"] = means[128] / means[256]
    series = {
        name: [(float(lanes), gains[lanes][place]) for lanes in LANES] for place, name in enumerate(kernels)
    }
    chart = line_chart("Kernels with more lanes", "lanes", "times as fast as with 32", series)
    digests = [row.digest for row in rows]
    return Outcome(compare("drx/lanes.csv", measured, partial=settings.quick), [chart], digests)


EXPERIMENT = Experiment(
    "drx-3.21",
    "Restructuring with more lanes",
    "Wang 2025, section 3.7.3, figure 3.21",
    "Five kernels of table 3.1 on the exact model of `drx` with 32 to 256 lanes, from its memory and back.",
    measure,
)
