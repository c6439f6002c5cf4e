"""Workloads over remote memory, with pages that leave in random orders: the output of all local memory."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from rackwright import RackwrightError
from rackwright.remote_memory import Paging, PagingResult, run_paged, workload

PAGE = 4096
HERE = Path(__file__)
ARGUMENTS = {
    "genome": ("400", "100", "4096", "6"),
    "processes": ("2", "4", "20"),
    "qsort": ("3000",),
    "threads": ("3", "12", "40"),
    "leveldb": ("60",),
    "snappy": (HERE.name,),
    "sqlite": ("30", "items.db"),
}
SHORT = ("genome", "processes", "qsort", "threads")


@cache
def everything_local(name: str) -> PagingResult:
    """On one hart."""
    return run_paged(
        *(workload(name), ARGUMENTS[name]), local_bytes=3000 * PAGE, files=[HERE], cpu="functional"
    )


def check(name: str, pages: int, order: int, harts: int, paging: Paging, blades: int) -> None:
    """One case."""
    result = run_paged(
        *(workload(name), ARGUMENTS[name]),
        local_bytes=pages * PAGE,
        paging=paging,
        order=order,
        harts=harts,
        blades=blades,
        files=[HERE],
        cpu="functional",
        link_latency_us=0.5,
    )
    local = everything_local(name)
    assert (result.output, result.exit_code) == (local.output, 0)
    assert local.counts["remote_faults"] == 0
    assert result.counts["remote_faults"] > 0 or pages > local.counts["peak_pages"] / 2


CASES = {
    "pages": st.integers(8, 100),
    "order": st.integers(1, (1 << 31) - 1),
    "harts": st.integers(1, 3),
    "paging": st.sampled_from(get_args(Paging)),
    "blades": st.integers(1, 3),
}


@settings(max_examples=4, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(name=st.sampled_from(SHORT), **CASES)
@example("processes", 8, 1, 2, "unit", 1)
@example("threads", 8, 2, 2, "software", 2)
def test_pages_leave_in_any_order(
    name: str, pages: int, order: int, harts: int, paging: Paging, blades: int
) -> None:
    """A few cases of the shorter workloads."""
    check(name, pages, order, harts, paging, blades)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(ARGUMENTS))
@settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(**CASES)
def test_pages_leave_in_any_order_long(
    name: str, pages: int, order: int, harts: int, paging: Paging, blades: int
) -> None:
    """Many cases of all of them."""
    check(name, pages, order, harts, paging, blades)


def test_an_order_decides_which_pages_leave() -> None:
    """Another one, other faults; the same, the same run."""
    runs = [
        run_paged(workload("qsort"), ["3000"], local_bytes=16 * PAGE, order=order, cpu="functional")
        for order in (0, 1, 2, 2)
    ]
    assert len({run.digest for run in runs}) == 3
    assert runs[2].digest == runs[3].digest


def test_an_order_is_a_number_of_31_bits() -> None:
    """The runtime reads it as that."""
    with pytest.raises(RackwrightError, match="order of evictions"):
        run_paged(workload("qsort"), local_bytes=16 * PAGE, order=1 << 31)
