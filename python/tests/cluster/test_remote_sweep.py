"""Run time over local memory, as a user asks for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import REPOSITORY, rw

from rackwright import RackwrightError
from rackwright.machine.programs import compile_program
from rackwright.remote_memory import run_paged, sweep, workload

EXAMPLE = REPOSITORY / "examples/remote-memory/sweep.py"


def test_a_sweep_is_a_table_and_a_page(tmp_path: Path) -> None:
    """Each row is what a run of its own gives."""
    options = ("--workload", "qsort", "--local", "1MiB", "64KiB", "--output", tmp_path)
    ended = rw("run", EXAMPLE, "--", *options, "--", "3000")
    assert ended.status == 0
    rows = json.loads((tmp_path / "sweep.json").read_text())
    assert [(row["paging"], row["local_bytes"]) for row in rows] == [
        *(("software", 1 << 20), ("unit", 1 << 20)),
        *(("software", 64 << 10), ("unit", 64 << 10)),
    ]
    assert rows[0]["faults"] == rows[1]["faults"] == 0
    assert min(rows[2]["faults"], rows[3]["faults"]) > 20
    alone = run_paged(workload("qsort"), ["3000"], local_bytes=64 << 10)
    assert rows[2]["digest"] == alone.digest
    assert rows[2]["evictions"] == alone.counts["evictions"]
    html = (tmp_path / "sweep.html").read_text()
    assert "<svg" in html
    assert alone.digest in html


def test_a_program_that_does_something_else_is_no_sweep(tmp_path: Path) -> None:
    """Here: it prints how long it has run."""
    source, program = tmp_path / "clock.c", tmp_path / "clock.elf"
    source.write_text(
        "#include <stdio.h>\n#include <time.h>\n"
        "int main(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t);"
        ' printf("%ld\\n", t.tv_nsec); return 0; }\n'
    )
    compile_program([source], program, [])
    with pytest.raises(RackwrightError, match="something else with less memory"):
        sweep(program, local_bytes=[1 << 20, 32 << 10], kinds=["software"])
