"""What `rw bench allocate` says, and the table that it has written."""

from __future__ import annotations

import json
from pathlib import Path

from command_line import rw

from rackwright.benchmarks.allocate import TABLE, AllocateRow, gains, measure, traces
from rackwright.reports.records import read_records


def test_the_committed_table_reaches_its_bars() -> None:
    rows = read_records(TABLE, AllocateRow)
    found = gains(rows)
    for name in traces([]):
        assert found["unit"]["rocket"][f"trace {name}"] >= 1.5
        assert found["malloc"]["rocket"][f"trace {name}"] >= 1.5
    p99 = {
        row.name: row.p99_cycles for row in rows if (row.cpu, row.test, row.by) == ("rocket", "live", "unit")
    }
    assert p99["100000"] <= 2 * p99["100"]


def test_a_row_is_measured_again_to_the_cycle() -> None:
    calls = {"python": traces([])["python"]}
    table = read_records(TABLE, AllocateRow)
    for row in measure(calls, ("rocket",), ()):
        (known,) = (
            other
            for other in table
            if (other.test, other.name, other.by, other.cpu) == ("trace", "python", row.by, "rocket")
        )
        assert (row.calls, row.cycles_per_call) == (known.calls, known.cycles_per_call)


def test_json_of_a_trace_of_ones_own(tmp_path: Path) -> None:
    # Two blocks of 24 and 5000 bytes; the first goes.
    words = (24 << 1, 5000 << 1, 0 << 1 | 1)
    trace = tmp_path / "own.bin"
    trace.write_bytes(b"".join(word.to_bytes(4, "little") for word in words))
    ended = rw("bench", "allocate", "--trace", trace, "--over", "rocket", "--live", "3", "--json")
    told = json.loads(ended.stdout)
    assert [(row["test"], row["by"], row["calls"]) for row in told["rows"]] == [
        ("trace", "library", 3),
        ("trace", "unit", 3),
        ("trace", "malloc", 3),
        ("live", "library", 4000),
        ("live", "unit", 4000),
        ("live", "malloc", 4000),
    ]
    for way in ("unit", "malloc"):
        assert set(told["gains"][way]["rocket"]) == {"trace own", "live 3"}


def test_files_that_are_no_traces(tmp_path: Path) -> None:
    broken = tmp_path / "broken.bin"
    broken.write_bytes(b"abc")
    ended = rw("bench", "allocate", "--trace", broken)
    assert (ended.status, ended.stderr.splitlines()[-1]) == (
        1,
        f"rw: {broken}: a trace has four bytes for each call",
    )
    broken.write_bytes((9 << 1 | 1).to_bytes(4, "little"))
    ended = rw("bench", "allocate", "--trace", broken, "--over", "rocket")
    assert ended.status == 1
    assert ended.stderr.splitlines()[-1].endswith("replay: the trace frees what is not allocated")
