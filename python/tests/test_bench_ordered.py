"""What `rw bench ordered` says, and the table that it has written."""

from __future__ import annotations

import pytest
from command_line import rw

from rackwright.benchmarks.ordered import DRAWS, TABLE, OrderedRow
from rackwright.reports.records import read_records

KNOWN = {(row.draw, row.by): row for row in read_records(TABLE, OrderedRow)}


def test_the_committed_table_reaches_its_bars() -> None:
    """Units over programs; a cache by range over one by address of more bits where some keys are popular."""
    assert all(row.verified for row in KNOWN.values())
    for draw in DRAWS:
        assert KNOWN[draw, "range"].per_second >= 2 * KNOWN[draw, "program"].per_second
        assert KNOWN[draw, "range"].per_second > KNOWN[draw, "address"].per_second
    for draw in ("zipf", "neighbours"):
        assert KNOWN[draw, "range"].per_second >= 2 * KNOWN[draw, "address"].per_second


@pytest.mark.long("a minute of a processor: two designs that other tests do not use")
def test_a_small_tree_is_measured_by_all() -> None:
    ended = rw("bench", "ordered", "--keys", "2000", "--queries", "512", "--draw", "scan", "--json")
    assert ended.status == 0, ended.stderr
    rows = ended.json()["rows"]
    assert [row["by"] for row in rows] == ["range", "address", "program"]
    assert all(row["verified"] for row in rows)
    assert rows[0]["cycles"] < rows[1]["cycles"]
