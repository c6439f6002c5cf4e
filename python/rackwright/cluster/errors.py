"""Errors of clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rackwright.errors import RackwrightError

if TYPE_CHECKING:
    from rackwright.cluster.result import ClusterResult


class TopologyError(RackwrightError):
    """A topology that cannot be built; the message names the nodes or the two ends concerned."""


class InterruptedRun(KeyboardInterrupt):
    """The user has ended a run. `result` has the measurements up to that point."""

    def __init__(self, message: str, result: ClusterResult) -> None:
        super().__init__(message)
        self.result = result


class LostRankError(RackwrightError):
    """A process of the run is lost.

    `result` has the measurements of the other processes; only one of them has it.
    """

    def __init__(self, message: str, result: ClusterResult | None) -> None:
        super().__init__(message)
        self.result = result
