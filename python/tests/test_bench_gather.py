"""What `rw bench gather` says, and the table that it has written."""

from __future__ import annotations

import json

import pytest
from command_line import rw
from tiers import long

from rackwright.benchmarks.gather import TABLE, GatherRow, gains
from rackwright.reports.records import read_records


def test_the_committed_table_reaches_its_bars() -> None:
    rocket = gains(read_records(TABLE, GatherRow))["rocket"]
    assert all(ways["prefetch"] >= 1.5 for ways in rocket.values())
    assert all(ways["threads"] >= 1.5 for ways in rocket.values())


@pytest.mark.parametrize("kernel", ["spmv", long("bfs", why="10 s of a processor; the same bench and unit")])
def test_a_loop_is_measured_again_to_the_cycle(kernel: str) -> None:
    ended = rw("bench", "gather", "--kernel", kernel, "--over", "rocket", "--json")
    assert ended.status == 0, ended.stderr
    told = json.loads(ended.stdout)["rows"]
    known = {
        row.by: row for row in read_records(TABLE, GatherRow) if (row.cpu, row.kernel) == ("rocket", kernel)
    }
    assert [row["by"] for row in told] == ["loads", "prefetch", "threads", "unit"]
    assert all(row["cycles_per_element"] == known[row["by"]].cycles_per_element for row in told)


def test_a_loop_that_there_is_not() -> None:
    ended = rw("bench", "gather", "--kernel", "fft")
    assert (ended.status, ended.stderr.splitlines()[-1]) == (
        1,
        "rw: no loop fft; there are spmv, sdhp, spmm, bfs",
    )
