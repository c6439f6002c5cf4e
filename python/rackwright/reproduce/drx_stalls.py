"""Restructuring on harts: the reasons why cycles are lost."""

from __future__ import annotations

import numpy as np

from rackwright.benchmarks import drx
from rackwright.drx.arrays import random_inputs
from rackwright.drx.harts.program import Way
from rackwright.drx.harts.run import profile_on_harts
from rackwright.drx.kernel import load_kernel
from rackwright.profiling.observed import Profile
from rackwright.reports.plots import stacked_chart
from rackwright.reproduce.drx_lanes import KERNELS, QUICK_KERNELS
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.reference import compare

HARTS = 16

GROUPS = {
    "front end": ("front_end", "instruction_cache"),
    "speculation": ("branch",),
    "back end, core": ("dependency",),
    "back end, memory": ("l2", "llc", "memory"),
}
"""Reasons of `rw profile` for cycles in which nothing retires, as Yasin 2014 groups them."""


def shares(profile: Profile) -> dict[str, float]:
    """Percents of the cycles in which harts did not wait for work; misses in 1,000 instructions."""
    reasons = (name.removeprefix("stall.") for name in profile.stalls)
    lost = dict(zip(reasons, np.sum([each.stalls for each in profile.functions], axis=0), strict=True))
    cycles = sum(profile.cycles) - lost["waiting"]
    found = {
        group: 100 * float(sum(lost[reason] for reason in members)) / float(cycles)
        for group, members in GROUPS.items()
    }
    found["back end"] = found["back end, core"] + found["back end, memory"]
    looks = profile.counter_samples().groupby("hart")["l1i_misses"]
    found["misses"] = 1000 * float((looks.last() - looks.first()).sum()) / profile.instructions
    return found


def measure(settings: Settings) -> Outcome:
    """Some minutes, most of which is `sound`."""
    names = QUICK_KERNELS if settings.quick else KERNELS
    found, digests = {}, []
    for name, path in zip(names, drx.examples(names), strict=True):
        settings.detail(f"drx-3.8: {name} on {HARTS} harts")
        kernel = load_kernel(path)
        inputs = [np.ascontiguousarray(array).tobytes() for array in random_inputs(kernel)]
        profile = profile_on_harts(kernel, inputs, Way.by_operation, HARTS)
        found[name] = shares(profile)
        digests.append(profile.digest)
    measured = {
        f"{name}, {group}": each[group]
        for name, each in found.items()
        for group in ("front end", "speculation", "back end")
    }
    if not settings.quick:
        measured["least back end"] = min(each["back end"] for each in found.values())
        measured["most back end"] = max(each["back end"] for each in found.values())
        measured["most front end"] = max(each["front end"] for each in found.values())
        measured["most speculation"] = max(each["speculation"] for each in found.values())
        measured["mean misses of the L1 instruction cache"] = float(
            np.mean([each["misses"] for each in found.values()])
        )
    parts = {group: [each[group] for each in found.values()] for group in GROUPS}
    chart = stacked_chart("Cycles lost, by reason", "percent of cycles", list(found), parts)
    return Outcome(compare("drx/stalls.csv", measured, partial=settings.quick), [chart], digests)


EXPERIMENT = Experiment(
    "drx-3.8",
    "Why harts lose cycles when they restructure",
    "Wang 2025, section 3.4.1, figure 3.8",
    f"Five kernels of table 3.1 as programs in C, an operation at a time, on {HARTS} `boom` harts.",
    measure,
)
