"""The demo's comparison and its report, from rows that need no simulation."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest

from rackwright.demo.archive import archive_of, default_archive
from rackwright.demo.report import render
from rackwright.demo.rows import TARGETS, Comparison, Row
from rackwright.demo.table import COLUMNS, cells
from rackwright.errors import RackwrightError
from rackwright.formats import OPERATIONS
from rackwright.reports.plots import Bar, bar_chart
from rackwright.reports.times import Times


@pytest.fixture
def comparison() -> Comparison:
    """Every target twice as fast as the one before it."""
    rows = []
    for operation in OPERATIONS:
        for index, target in enumerate(TARGETS):
            sizes = (1000, 400, 1000) if operation == "compress" else (400, 1000, 1000)
            times = Times(4e-6 / 2**index, 1e-6 / 2**index, 1e-6)
            simulated = {"clock_hz": 2 * 10**9, "instructions": 10, "wall_seconds": 2.0}
            extra = {} if target == "host" else simulated | {"digest": "00ff"}
            rows.append(Row(operation, target, *sizes, times, True, **extra))  # type: ignore[arg-type]
    return Comparison(tuple(rows))


def test_speedups_are_against_every_other_target(comparison: Comparison) -> None:
    boom = comparison.rows[2]
    assert comparison.speedup(boom) == pytest.approx(
        {"host": 4.0, "rocket": 2.0, "rocket+unit": 0.5, "boom+unit": 0.25}
    )
    assert boom.gigabytes_per_second == pytest.approx(4.0)
    assert boom.ratio == 2.5


def test_json_has_the_documented_keys(comparison: Comparison) -> None:
    record = json.loads(json.dumps(comparison.record()))
    assert set(record) == {"rows", "digest"}
    needed = {"operation", "target", "gigabytes_per_second", "ratio", "verified", "speedup", "digest"}
    assert all(needed <= set(row) for row in record["rows"])
    assert [row["target"] for row in record["rows"]] == [*TARGETS, *TARGETS]


def test_the_digest_depends_on_every_run(comparison: Comparison) -> None:
    rows = list(comparison.rows)
    rows[1] = Row(**{**vars(rows[1]), "digest": "00fe"})
    assert Comparison(tuple(rows)).digest != comparison.digest


def test_the_table_has_a_cell_for_every_column(comparison: Comparison) -> None:
    assert all(len(cells(comparison, row)) == len(COLUMNS) for row in comparison.rows)


def test_the_report_needs_nothing_else(comparison: Comparison) -> None:
    page = render(comparison, "a <file>", 12.3)
    assert "a &lt;file&gt;" in page
    assert "https:" not in page
    assert not re.search(r"\b(src|href)=", page)
    for chart in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        ElementTree.fromstring(chart)
    assert page.count("<svg") == 4
    assert "<script" not in page
    assert page.count("<tr class=") == len(comparison.rows)


def test_the_report_says_when_a_result_is_wrong(comparison: Comparison) -> None:
    assert "every result is byte-exact" in render(comparison, "a file", 1)
    rows = [Row(**{**vars(row), "verified": index > 0}) for index, row in enumerate(comparison.rows)]
    page = render(Comparison(tuple(rows)), "a file", 1)
    assert "SOME RESULTS ARE WRONG" in page
    assert "byte-exact" not in page


def test_the_rate_of_rtl_is_that_of_the_first_unit(comparison: Comparison) -> None:
    rows = [
        Row(
            **{**vars(row), "unit_cycles": {"rocket+unit": 3_000_000, "boom+unit": 8_000_000}.get(row.target)}
        )
        for row in comparison.rows
    ]
    *_, chart = re.findall(r"<svg.*?</svg>", render(Comparison(tuple(rows)), "a file", 1), re.DOTALL)
    assert "1500 k/s" in chart
    assert "4000 k/s" not in chart


def test_a_chart_of_nothing_is_still_a_chart() -> None:
    ElementTree.fromstring(bar_chart("nothing", [Bar("a", 0.0, "0", "host")]))


def test_the_archive_is_the_same_every_time() -> None:
    assert default_archive(5000) == default_archive(5000)
    assert len(default_archive(300_000)) == 300_000


def test_a_file_that_cannot_be_read_is_named(tmp_path: object) -> None:
    from pathlib import Path

    with pytest.raises(RackwrightError, match=r"missing\.txt"):
        archive_of([Path(str(tmp_path)) / "missing.txt"])
