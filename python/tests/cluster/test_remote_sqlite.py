"""The official SQLite over remote memory: what it answers, with a database in memory and in a file."""

from __future__ import annotations

import sqlite3

import pytest
from workload_numbers import drawn

from rackwright.remote_memory import Paging, run_paged, workload

PAGE = 4096
ROWS = 200


def answer_of_the_host(rows: int) -> str:
    """The workload's first question, by the SQLite of this Python."""
    database, numbers = sqlite3.connect(":memory:"), drawn()
    database.execute("CREATE TABLE item (number INTEGER PRIMARY KEY, name TEXT, weight INTEGER)")
    for row in range(rows):
        name = f"item {next(numbers):x} of {row}"
        number, weight = next(numbers) % (4 * rows), next(numbers) % 1000
        database.execute("INSERT OR REPLACE INTO item VALUES (?, ?, ?)", (number, name, weight))
    database.execute("UPDATE item SET name = name || ' again' WHERE weight % 7 = 0")
    database.execute("DELETE FROM item WHERE weight BETWEEN 100 AND 199")
    question = "SELECT count(*), sum(weight), sum(length(name)), sum(number) FROM item"
    return " ".join(map(str, database.execute(question).fetchone()))


@pytest.mark.long
@pytest.mark.parametrize("file", [(), ("items.db",)], ids=["in memory", "in a file"])
@pytest.mark.parametrize("paging", ["software", "unit"])
def test_a_database_answers_as_with_all_memory_local(paging: Paging, file: tuple[str, ...]) -> None:
    """With less than half of its pages; the host's SQLite gives the same sums."""
    local, remote = (
        run_paged(
            *(workload("sqlite"), [str(ROWS), *file]),
            local_bytes=pages * PAGE,
            paging=paging,
            link_latency_us=0.5,
            cpu="functional",
        )
        for pages in (1000, 96)
    )
    assert local.counts["remote_faults"] == 0
    assert local.counts["peak_pages"] > 2 * 96
    assert (remote.output, remote.exit_code) == (local.output, 0)
    assert remote.output.splitlines()[0] == answer_of_the_host(ROWS)
    assert remote.output.splitlines()[-1] == "ok"
    assert remote.counts["remote_faults"] > 100
