"""The report of an exploration: one HTML page."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from rackwright.exploration.explore import Exploration, Result
from rackwright.reports.host import provenance
from rackwright.reports.page import definitions, page
from rackwright.reports.plots import line_chart


def render(done: Exploration) -> str:
    """The page: speed and ratio over each numeric axis, and the table of all points."""
    about = definitions(
        {
            "unit": done.space.label,
            "suite": done.suite,
            "standard error": f"at most {done.space.standard_error:.1%} of each speed",
            "portions": f"{done.measured} measured, {done.reused} reused",
            "digest": done.digest,
            **{name: str(value) for name, value in provenance().items()},
        }
    )
    charts = "".join(_charts(done))
    title = f"Exploration of {done.space.label}"
    body = f'<h1>{escape(title)}</h1><dl>{about}</dl><div class="charts">{charts}</div>{_table(done)}'
    return page(f"Rackwright: {title}", body)


def _charts(done: Exploration) -> list[str]:
    numeric = [
        axis
        for axis in done.varied()
        if all(isinstance(each.point.record()[axis], int) for each in done.results)
    ]
    return [
        line_chart(f"{label} over {axis}", axis, label, _series(done, axis, value))
        for axis in numeric
        for label, value in _quantities(done)
    ]


def _quantities(done: Exploration) -> list[tuple[str, Callable[[Result], float]]]:
    """The drawn quantities: the speed, and the compression ratio, if there is one."""
    compress = all(each.ratio is not None for each in done.results)
    return [("GB/s", _speed), *([("ratio", _ratio)] if compress else [])]


def _series(
    done: Exploration, axis: str, value: Callable[[Result], float]
) -> dict[str, list[tuple[float, float]]]:
    """A line for each combination of the other parameters."""
    series: dict[str, list[tuple[float, float]]] = {}
    for each in done.results:
        series.setdefault(_others(done, each, axis), []).append((each.point.record()[axis], value(each)))
    return {name: sorted(points) for name, points in series.items()}


def _speed(result: Result) -> float:
    return result.gigabytes_per_second


def _ratio(result: Result) -> float:
    assert result.ratio is not None
    return result.ratio


def _others(done: Exploration, result: Result, axis: str) -> str:
    record = result.point.record()
    names = [f"{name.split('.')[-1]} {record[name]}" for name in done.varied() if name != axis]
    return ", ".join(names) or result.point.config.unit


def _table(done: Exploration) -> str:
    records = [each.record() for each in done.results]
    titles = "".join(f"<th>{escape(name)}</th>" for name in records[0])
    cells = ("".join(f"<td>{_cell(value)}</td>" for value in record.values()) for record in records)
    rows = "".join(f"<tr>{row}</tr>" for row in cells)
    return f'<div class="scroll"><table><thead><tr>{titles}</tr></thead><tbody>{rows}</tbody></table></div>'


def _cell(value: object) -> str:
    return escape(f"{value:.4g}" if isinstance(value, float) else str(value))
