"""Memory ports that watch: a unit of a user waits for what a hart writes, and does nothing meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from rackwright import Server, compile_program

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture(scope="module")
def program() -> Path:
    return compile_program([FIXTURES / "watcher.c"], options=["-pthread", "-Wall", "-Wextra", "-Werror"])


@pytest.mark.parametrize(("cpu", "within"), [("rocket", 400), ("boom", 400), ("functional", 4000)])
def test_a_unit_is_told_of_what_another_hart_writes(program: Path, cpu: str, within: int) -> None:
    """Of the watched bytes alone, with what was written before, so many cycles later at most."""
    result = Server(cpu, [str(FIXTURES / "watcher.json")], harts=2).run(program)
    first, second = result.stdout.decode().splitlines()
    *seen, later = map(int, first.split())
    assert seen == [0, 42, 5]
    assert 0 < later < within
    assert second == "1 0"
    assert result.unit_cycles < 2000, "it is idle while it watches"


def test_clocks_that_never_stop_change_nothing(program: Path) -> None:
    digests = {
        Server("rocket", [str(FIXTURES / "watcher.json")], harts=2, check_idle=check).run(program).digest
        for check in (False, True)
    }
    assert len(digests) == 1
