"""The report of a suite: one HTML page beside its files."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from rackwright.generation.distance import Distance, size_curves
from rackwright.generation.profile import OperationProfile
from rackwright.generation.suite import Suite
from rackwright.reports.page import definitions, page
from rackwright.reports.plots import line_chart


def render(suite: Suite, operations: Sequence[OperationProfile], distances: Sequence[Distance]) -> str:
    """The page: for each operation the curves of call sizes, the results, and the assumptions."""
    about = definitions(
        {
            "profile": suite.profile,
            "source": suite.source,
            "seed": str(suite.seed),
            "corpora": ", ".join(suite.corpora),
            "digest": suite.digest,
        }
    )
    sections = "".join(
        _section(suite, profile, each) for profile, each in zip(operations, distances, strict=True)
    )
    title = f"Suite of {suite.profile}"
    return page(f"Rackwright: {title}", f"<h1>{escape(title)}</h1><dl>{about}</dl>{sections}")


def _section(suite: Suite, profile: OperationProfile, each: Distance) -> str:
    title = f"{profile.format} {profile.operation}"
    chart = line_chart(
        f"{title}: cumulative call sizes",
        "log2 of the call size in bytes",
        "share of bytes",
        size_curves(profile, suite.only(profile.operation)),
    )
    numbers = definitions(
        {
            "files": f"{each.files:,}",
            "bytes": f"{each.total_bytes:,}",
            "largest gap of call sizes": f"{each.call_size_gap:.2%}",
            "ratio": f"{each.ratio_achieved:.3f}, asked for {each.ratio_asked:.3f} ({each.ratio_error:+.2%})",
            **_gap("largest gap of levels", each.level_gap),
            **_gap("largest gap of windows", each.window_gap),
        }
    )
    assumed = "".join(f"<li>{escape(text)}</li>" for text in profile.assumed)
    return f'<h2>{escape(title)}</h2><dl>{numbers}</dl><div class="charts">{chart}</div><ul>{assumed}</ul>'


def _gap(name: str, value: float | None) -> dict[str, str]:
    return {} if value is None else {name: f"{value:.2%}"}
