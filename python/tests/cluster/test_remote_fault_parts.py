"""Where the time of a remote fault goes: parts that add up, to the cycle."""

from __future__ import annotations

from typing import get_args

import pytest
from command_line import REPOSITORY, rw

from rackwright import RackwrightError
from rackwright.remote_memory import Paging, fault_parts, run_paged, workload

PAGE = 4096
GENOME = ("1000", "300", "4096")


@pytest.mark.parametrize("paging", get_args(Paging))
@pytest.mark.parametrize("latency", [0.5, 2.0])
def test_parts_add_up_to_the_fault(paging: Paging, latency: float) -> None:
    """The cycles of both clocks are multiples of 1/16 ns, so that the sum is exact."""
    told = fault_parts(
        workload("genome"), GENOME, local_bytes=24 * PAGE, paging=paging, link_latency_us=latency
    )
    assert sum(told.parts.values()) == told.ns
    assert 0 < told.undisturbed < told.faults
    assert (told.parts["link, out"], told.parts["link, in"]) == (latency * 1e3, latency * 1e3)
    assert told.parts["blade"] == told.means["blade"] == 200
    # Headers, page and trailer in flits of 8 bytes, at 3.2 GHz.
    assert told.parts["link: flits of the page behind the first"] == 517 / 3.2
    assert all(part >= 0 for part in told.parts.values())


@pytest.mark.parametrize("paging", get_args(Paging))
def test_what_is_noted_changes_nothing(paging: Paging) -> None:
    """As many faults as in a run in which nothing is noted; software's last may have no return."""
    arguments = (workload("genome"), GENOME)
    result = run_paged(*arguments, local_bytes=24 * PAGE, paging=paging)
    told = fault_parts(*arguments, local_bytes=24 * PAGE, paging=paging)
    if paging == "software":
        assert result.counts["remote_faults"] - told.faults in (0, 1)
    else:
        # The others were refused for lack of frames, and fetched by software's command.
        assert 0.5 * result.counts["remote_faults"] < told.faults <= result.counts["remote_faults"]


def test_a_program_without_remote_faults_is_told_so() -> None:
    """All of its memory is local."""
    with pytest.raises(RackwrightError, match="no remote fault"):
        fault_parts(workload("qsort"), ["300"], local_bytes=2000 * PAGE)


def test_the_example_prints_parts() -> None:
    """And refuses what they are not told of."""
    command = ("run", REPOSITORY / "examples/remote-memory/paging.py", "--", "--local", "96KiB", "--parts")
    printed = rw(*command, "--paging", "unit", *GENOME)
    assert printed.status == 0
    assert "had the link for themselves" in printed.stdout
    assert "200.0000  blade" in printed.stdout
    refused = rw(*command, "--harts", "2", *GENOME)
    assert refused.status != 0
    assert "one hart and one blade" in refused.stderr
