"""What figure 5.2 makes of a profile."""

from __future__ import annotations

import re

import numpy as np
import pytest

from rackwright.profiling.observed import Function, Hart, Profile, Thread
from rackwright.profiling.trees import Tree
from rackwright.reproduce.fireperf.stacks import COPY, IDLE, flame_graph, shares


@pytest.fixture
def profile() -> Profile:
    """200 cycles: idle 100, copies 60, another function 30 around them, iperf3 itself 9, a rest of 1."""
    names = [
        ("kernel", IDLE),
        ("kernel", "tcp_recvmsg"),
        ("kernel", COPY),
        ("iperf3", "main"),
        ("libc", "a<b"),
    ]
    functions = [Function(module, name, name, [(10, 1)], [(10, 0)], []) for module, name in names]
    threads = (Thread("swapper", 0, "swapper", 0), Thread("iperf3", 9, "iperf3", 9))
    nodes = [
        # parent, label, cycles, instructions, calls
        [0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0],
        [0, 1, 0, 0, 0],
        [1, 0, 100, 1, 1],
        [2, 3, 9, 9, 1],
        [4, 1, 30, 30, 1],
        [5, 2, 60, 60, 1],
        [4, 4, 1, 1, 1],
    ]
    samples = np.zeros((0, 2), np.uint64)
    hart = Hart(0, 200, [(0, 200)], 101, Tree.of(nodes), [], 0, samples)
    return Profile(
        *("iperf3", "rocket", 10**9, 0, "", 0.0, (), (), (0, 0), None),
        functions=tuple(functions),
        threads=threads,
        harts=(hart,),
    )


def test_shares_leave_out_what_is_idle(profile: Profile) -> None:
    assert shares(profile) == {"copies": 0.6, "iperf3 itself": 0.09, "copies over the next function": 2.0}


def test_frames_are_as_wide_as_their_cycles_and_lie_on_their_callers(profile: Profile) -> None:
    found = re.findall(
        r'<title>(.*) \([\d.]+%\).*?<rect x="([\d.]+)" y="(\d+)" width="([\d.]+)"', flame_graph(profile)
    )
    places = {title: (float(x), int(y), float(width)) for title, x, y, width in found}
    assert places["iperf3 (9)"] == (480, 48, 480)
    assert places["main"] == (480, 32, 480)
    assert places["tcp_recvmsg"] == (480, 16, 432)
    assert places[COPY] == (480, 0, 288)
    assert "a&lt;b" in places
