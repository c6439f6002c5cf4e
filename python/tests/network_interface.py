"""What the tests of the network interface have in common."""

from __future__ import annotations

from collections.abc import Callable

from rackwright.unit.nic import FrameCompletion, NicUnit

LENGTHS = [1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 60, 64, 65, 1500, 1514, 4096, 9599, 9600]
"""Of frames: around flits, beats, and the shortest and longest of Ethernet."""

LIMIT = 100_000
"""Cycles within which a completion comes."""


def wait_for(nic: NicUnit, take: Callable[[], FrameCompletion | None]) -> FrameCompletion:
    """The next completion that `take` finds."""
    assert nic.unit.work(LIMIT)
    found = take()
    assert found is not None
    return found
