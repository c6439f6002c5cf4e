"""The report of experiments: one self-contained HTML file."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from html import escape

from rackwright.reports.page import definitions, page
from rackwright.reproduce.experiment import Reproduction
from rackwright.reproduce.table import COLUMNS, cells

_TITLE = "Experiments of papers, made again"


def render(reproductions: Sequence[Reproduction]) -> str:
    """The page, with a section for each experiment."""
    seconds = sum(each.wall_seconds for each in reproductions)
    host = f"{platform.processor() or platform.machine()}, {platform.platform()}"
    run = definitions({"host": host, "measured in": f"{seconds:.1f} s"})
    sections = "".join(map(_section, reproductions))
    return page(f"Rackwright: {_TITLE}", f"<h1>{_TITLE}</h1>{sections}<h2>This run</h2><dl>{run}</dl>")


def _section(reproduction: Reproduction) -> str:
    experiment, outcome = reproduction.experiment, reproduction.outcome
    titles = "".join(f'<th class="{side}">{escape(title)}</th>' for title, side in COLUMNS)
    rows = "".join(
        "<tr>"
        + "".join(
            f'<td class="{side}">{escape(text)}</td>'
            for (_, side), text in zip(COLUMNS, cells(row), strict=True)
        )
        + "</tr>"
        for row in outcome.rows
    )
    return (
        f"<h2>{escape(experiment.id)}: {escape(experiment.title)}</h2>"
        f'<p class="lead">{escape(experiment.source)}. {escape(experiment.runs)}</p>'
        f'<div class="charts">{"".join(outcome.charts)}</div>'
        f'<div class="scroll"><table><thead><tr>{titles}</tr></thead><tbody>{rows}</tbody></table></div>'
    )
