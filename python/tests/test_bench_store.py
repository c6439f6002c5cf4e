"""What `rw bench store` says, and the table that it has written."""

from __future__ import annotations

from command_line import rw

from rackwright.benchmarks.store import GETS, TABLE, StoreRow
from rackwright.reports.records import read_records

KNOWN = {(row.by, row.gets): row for row in read_records(TABLE, StoreRow)}


def test_the_committed_table_reaches_its_bars() -> None:
    """Pengwing, figure 4.5, and units over programs."""
    rates = [KNOWN["unit", gets].per_second for gets in GETS]
    assert rates == sorted(rates)
    assert rates[0] >= 1.2e6
    assert rates[-1] >= 13e6
    assert all(KNOWN["program", gets].per_second * 2 <= KNOWN["unit", gets].per_second for gets in GETS)


def test_a_batch_is_measured_again_to_the_cycle() -> None:
    ended = rw("bench", "store", "--gets", "64", "--by", "unit", "--json")
    assert ended.status == 0, ended.stderr
    (row,) = ended.json()["rows"]
    known = KNOWN["unit", 64]
    assert (row["cycles"], row["digest"], row["verified"]) == (known.cycles, known.digest, True)
