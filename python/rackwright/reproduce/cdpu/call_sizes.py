"""Figure 7.7: call sizes of generated suites compared with those of the fleet."""

from __future__ import annotations

import tempfile
from pathlib import Path

from rackwright.generation import PROFILES, Profile, generate, load_profile
from rackwright.generation.distance import distance, size_curves
from rackwright.generation.suite import USUAL_FILES
from rackwright.reports.plots import line_chart
from rackwright.reproduce.experiment import Experiment, Outcome, Settings
from rackwright.reproduce.reference import compare

SEED = 1


def _measure_profile(
    profile: Profile, folder: Path, settings: Settings
) -> tuple[dict[str, float], list[str], str]:
    """The quantities of a profile's two suites, their curves, and the digest of the files."""
    suite = generate(profile, folder, files=USUAL_FILES, seed=SEED, progress=settings.detail)
    measured, charts = {}, []
    for each in profile.operations:
        name, files = f"{each.format} {each.operation}", suite.only(each.operation)
        found = distance(each, files)
        measured[f"{name}: call sizes that agree with the fleet's"] = 100 * (1 - found.call_size_gap)
        measured[f"{name}: ratio over the fleet's"] = found.ratio_achieved / found.ratio_asked
        title = f"{name}: cumulative call sizes"
        charts.append(line_chart(title, "log2 of the call size", "share of bytes", size_curves(each, files)))
    return measured, charts, suite.digest


def measure(settings: Settings) -> Outcome:
    """Writes the suites into a temporary folder, about 1.3 GB in all; a quick run is the same."""
    measured: dict[str, float] = {}
    charts: list[str] = []
    digests = []
    for name in PROFILES:
        with tempfile.TemporaryDirectory(prefix="rackwright-suite-") as folder:
            numbers, curves, digest = _measure_profile(load_profile(name), Path(folder), settings)
        measured |= numbers
        charts += curves
        digests.append(digest)
    return Outcome(compare("cdpu/figure_7_7.csv", measured), charts, digests)


EXPERIMENT = Experiment(
    "cdpu-7.7",
    "Call sizes of generated benchmark suites",
    "Karandikar 2024, figure 7.7 and section 7.4",
    "Suites of 10,000 calls for each format and direction, generated from the profiles that come along.",
    measure,
)
