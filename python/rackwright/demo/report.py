"""The demo's report: one HTML file that needs nothing else."""

from __future__ import annotations

import platform
from html import escape
from string import Template

from rackwright.demo.charts import Bar, bar_chart
from rackwright.demo.rows import OPERATIONS, Comparison, Row
from rackwright.demo.table import COLUMNS, DESCRIPTIONS, cells

_PAGE = Template(
    """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Rackwright: Snappy in software and in hardware</title>
<style>
:root { color-scheme: light dark; --ink: #1c2733; --soft: #5c6b7a; --line: #dde3ea;
  --paper: #ffffff; --card: #f6f8fa; --host: #8a97a6; --core: #4b82c4; --unit: #d9722e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf0; --soft: #9aa7b4; --line: #31404f;
  --paper: #141b22; --card: #1b242d; --host: #7d8a99; --core: #5c94d8; --unit: #e88a4a; } }
body { margin: 0 auto; max-width: 1280px; padding: 2.5rem 1.5rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.9rem; margin: 0 0 .3rem; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .8rem; }
p.lead { color: var(--soft); margin: 0 0 1.5rem; }
.headlines { display: flex; flex-wrap: wrap; gap: 1rem; }
.headline { background: var(--card); border-radius: 10px; padding: 1rem 1.3rem; flex: 1 1 15rem; }
.headline b { display: block; font-size: 1.7rem; color: var(--unit); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .86rem; }
th, td { padding: .42rem .6rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { text-align: left; color: var(--soft); font-weight: 600; }
.right { text-align: right; font-variant-numeric: tabular-nums; }
tr.unit td { font-weight: 600; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(420px, 1fr)); gap: 1.5rem; }
svg { width: 100%; height: auto; background: var(--card); border-radius: 10px; padding: 1rem;
  box-sizing: border-box; }
svg text { fill: var(--ink); font: 14px system-ui, sans-serif; }
svg .chart-title { font-weight: 600; }
svg .chart-label { text-anchor: end; fill: var(--soft); }
svg .host { fill: var(--host); } svg .core { fill: var(--core); } svg .unit { fill: var(--unit); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1.2rem; font-size: .92rem; }
dt { font-weight: 600; } dd { margin: 0; color: var(--soft); overflow-wrap: anywhere; }
</style>
</head>
<body>
<h1>Snappy in software and in hardware</h1>
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
<dl>$provenance</dl>
</body>
</html>
"""
)


def render(comparison: Comparison, source: str, seconds: float) -> str:
    """The page, for an input that `source` describes, measured in `seconds` of real time."""
    plain_bytes = comparison.rows[0].uncompressed_bytes
    verdict = "every result is byte-exact" if comparison.verified else "SOME RESULTS ARE WRONG"
    lead = f"{plain_bytes:,} bytes of {source}; against the official library, {verdict}."
    return _PAGE.substitute(
        lead=escape(lead),
        headlines="".join(_headline(comparison, operation) for operation in OPERATIONS),
        throughput="".join(_throughput_chart(comparison, operation) for operation in OPERATIONS),
        titles="".join(f'<th class="{side}">{escape(title)}</th>' for title, side in COLUMNS),
        rows="".join(_table_row(comparison, row) for row in comparison.rows),
        simulation="".join(_simulation_charts(comparison)),
        targets=_definitions(DESCRIPTIONS),
        provenance=_definitions(
            {
                "digest": comparison.digest,
                "host": f"{platform.processor() or platform.machine()}, {platform.platform()}",
                "measured in": f"{seconds:.1f} s",
            }
        ),
    )


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
    return (
        f'<div class="headline"><b>{best.gigabytes_per_second:.1f} GB/s</b>'
        f"{escape(operation)} with the unit at 2 GHz: {escape(gains)}</div>"
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


def _definitions(pairs: dict[str, str]) -> str:
    return "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in pairs.items())
