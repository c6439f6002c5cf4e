"""Programs with threads over remote memory: the same output on several harts, with any local memory."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rackwright import RackwrightError
from rackwright.remote_memory import Paging, PagingResult, run_paged, workload

PAGE = 4096
KINDS: tuple[Paging, ...] = ("software", "unit")


@cache
def threaded(
    pages: int,
    paging: Paging,
    harts: int,
    *,
    threads: int = 2,
    table: int = 12,
    steps: int = 60,
    batch: int = 0,
    blades: int = 1,
    loss: float = 0.0,
    cpu: str = "functional",
    host_threads: int = 1,
) -> PagingResult:
    """Threads that share a table of so many pages, with so many local ones."""
    return run_paged(
        *(workload("threads"), [str(threads), str(table), str(steps)]),
        local_bytes=pages * PAGE,
        paging=paging,
        harts=harts,
        batch=batch,
        blades=blades,
        loss=loss,
        cpu=cpu,
        link_latency_us=0.5,
        threads=host_threads,
    )


def everything_local(threads: int, table: int, steps: int) -> PagingResult:
    """On one hart."""
    return threaded(2000, "software", 1, threads=threads, table=table, steps=steps)


@pytest.mark.parametrize("paging", KINDS)
@pytest.mark.parametrize(
    ("pages", "harts", "threads", "blades", "loss"),
    [(8, 2, 2, 1, 0.0), (24, 2, 3, 2, 0.02), (16, 1, 3, 1, 0.0)],
)
def test_threads_do_what_they_do_with_all_memory_local(
    pages: int, harts: int, threads: int, blades: int, loss: float, paging: Paging
) -> None:
    """Two harts with eight pages, more threads than harts behind a lossy switch, and threads on one hart."""
    local = everything_local(threads, 12, 60)
    remote = threaded(pages, paging, harts, threads=threads, blades=blades, loss=loss)
    assert local.output.startswith(f"{threads} threads: ")
    assert local.output.endswith(", 0 wrong\n")
    assert local.counts["remote_faults"] == 0
    assert (remote.output, remote.exit_code) == (local.output, 0)
    assert remote.counts["remote_faults"] > 100


@pytest.mark.parametrize("paging", KINDS)
def test_two_harts_of_a_timed_core_depend_on_no_thread_of_the_host(paging: Paging) -> None:
    """The same digest on one and two threads of the host; the output is that of one hart."""
    one, two = (threaded(40, paging, 2, steps=30, cpu="rocket", host_threads=count) for count in (1, 2))
    assert one.digest == two.digest
    assert one.output == everything_local(2, 12, 30).output


def test_two_harts_are_faster_than_one() -> None:
    """With all memory local, although each takes the same lock at every sixteenth step."""
    one, two = (threaded(2000, "software", harts, steps=12000, cpu="rocket") for harts in (1, 2))
    assert one.output == two.output
    assert two.counts["cycles"] < 0.9 * one.counts["cycles"]


@pytest.mark.parametrize("harts", [0, 9])
def test_so_many_harts_there_cannot_be(harts: int) -> None:
    """One to eight."""
    with pytest.raises(RackwrightError, match="harts"):
        threaded(64, "software", harts)


CASES = st.fixed_dictionaries(
    {
        "pages": st.integers(8, 80),
        "paging": st.sampled_from(KINDS),
        "harts": st.integers(1, 3),
        "threads": st.integers(1, 4),
        "table": st.integers(1, 40),
        "blades": st.integers(1, 3),
        "loss": st.sampled_from((0.0, 0.0, 0.01)),
    }
)


def check(case: dict[str, Any], batch_part: float) -> None:
    """One case: pages leave in batches of up to what the local memory allows, which decides their order."""
    largest = min(48, (case["pages"] - 4) // 4)
    remote = threaded(**case, steps=40, batch=1 + int(batch_part * (largest - 1)))
    local = everything_local(case["threads"], case["table"], 40)
    assert (remote.output, remote.exit_code) == (local.output, 0)


@settings(max_examples=4, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(case=CASES, batch_part=st.floats(0, 1))
def test_any_local_memory_and_order_of_evictions(case: dict[str, Any], batch_part: float) -> None:
    """A few random cases."""
    check(case, batch_part)


@pytest.mark.long
@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(case=CASES, batch_part=st.floats(0, 1))
def test_any_local_memory_and_order_of_evictions_long(case: dict[str, Any], batch_part: float) -> None:
    """Many of them."""
    check(case, batch_part)
