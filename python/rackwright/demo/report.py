"""The demo's report: one self-contained HTML file."""

from __future__ import annotations

from html import escape
from string import Template

from rackwright.demo.rows import Comparison, Row
from rackwright.demo.table import COLUMNS, DESCRIPTIONS, cells
from rackwright.formats import OPERATIONS
from rackwright.reports.host import describe_host, describe_library
from rackwright.reports.page import definitions, page
from rackwright.reports.plots import Bar, bar_chart

_BODY = Template(
    """<h1>Snappy in software and in hardware</h1>
<p class="lead">$lead</p>
<div class="headlines">$headlines</div>
<h2>Throughput</h2>
<div class="charts">$throughput</div>
<h2>All measurements</h2>
<div class="scroll"><table><thead><tr>$titles</tr></thead><tbody>$rows</tbody></table></div>
<h2>Speed of the simulation</h2>
<div class="charts">$simulation</div>
<h2>What was compared</h2>
<dl>$targets</dl>
<h2>This run</h2>
<dl>$provenance</dl>"""
)


def render(comparison: Comparison, source: str, seconds: float) -> str:
    """The page, for an input that `source` describes, measured in `seconds` of real time."""
    plain_bytes = comparison.rows[0].uncompressed_bytes
    verdict = "every result is byte-exact" if comparison.verified else "SOME RESULTS ARE WRONG"
    lead = f"{plain_bytes:,} bytes of {source}; against the official library, {verdict}."
    body = _BODY.substitute(
        lead=escape(lead),
        headlines="".join(_headline(comparison, operation) for operation in OPERATIONS),
        throughput="".join(_throughput_chart(comparison, operation) for operation in OPERATIONS),
        titles="".join(f'<th class="{side}">{escape(title)}</th>' for title, side in COLUMNS),
        rows="".join(_table_row(comparison, row) for row in comparison.rows),
        simulation="".join(_simulation_charts(comparison)),
        targets=definitions(DESCRIPTIONS),
        provenance=definitions(
            {
                "digest": comparison.digest,
                "host": describe_host(),
                "the host's library": describe_library(),
                "measured in": f"{seconds:.1f} s",
            }
        ),
    )
    return page("Rackwright: Snappy in software and in hardware", body)


def _style(target: str) -> str:
    if target == "host":
        return "host"
    return "unit" if "+" in target else "core"


def _rows_of(comparison: Comparison, operation: str) -> list[Row]:
    return [row for row in comparison.rows if row.operation == operation]


def _headline(comparison: Comparison, operation: str) -> str:
    rows = [row for row in _rows_of(comparison, operation) if "+" in row.target]
    best = max(rows, key=lambda row: row.gigabytes_per_second)
    speedup = comparison.speedup(best)
    gains = ", ".join(f"{speedup[name]:.1f}x {name}" for name in ("host", "boom", "rocket"))
    clock = f"{(best.unit_clock_hz or 0) / 1e9:.2f} GHz"
    return (
        f'<div class="headline"><b>{best.gigabytes_per_second:.1f} GB/s</b>'
        f"{escape(operation)} with the unit at {clock}: {escape(gains)}</div>"
    )


def _throughput_chart(comparison: Comparison, operation: str) -> str:
    bars = [
        Bar(
            row.target,
            row.gigabytes_per_second,
            f"{row.gigabytes_per_second:.2f} GB/s",
            _style(row.target),
        )
        for row in _rows_of(comparison, operation)
    ]
    return bar_chart(f"{operation}, GB/s of uncompressed bytes", bars)


def _simulation_charts(comparison: Comparison) -> list[str]:
    instructions = [
        Bar(f"{row.target}", speed / 1e6, f"{speed / 1e6:.1f} M/s", _style(row.target))
        for row in _rows_of(comparison, "compress")
        if (speed := row.instructions_per_second)
    ]
    cycles = [
        Bar(row.operation, speed / 1e3, f"{speed / 1e3:.0f} k/s", "unit")
        for row in comparison.rows
        if row.target == "rocket+unit" and (speed := row.rtl_cycles_per_second)
    ]
    return [
        bar_chart("instructions simulated per second, compress", instructions),
        bar_chart("cycles of RTL simulated per second, rocket+unit, whole run", cycles),
    ]


def _table_row(comparison: Comparison, row: Row) -> str:
    texts = zip(COLUMNS, cells(comparison, row), strict=True)
    inner = "".join(f'<td class="{side}">{escape(text)}</td>' for (_, side), text in texts)
    return f'<tr class="{_style(row.target)}">{inner}</tr>'
