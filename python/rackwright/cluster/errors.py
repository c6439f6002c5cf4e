"""What can go wrong with a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rackwright.errors import RackwrightError

if TYPE_CHECKING:
    from rackwright.cluster.result import ClusterResult


class TopologyError(RackwrightError):
    """A topology that cannot be built; the message names the nodes or the two ends concerned."""


class InterruptedRun(KeyboardInterrupt):
    """The user has ended a run. `result` is what had been measured until then."""

    def __init__(self, message: str, result: ClusterResult) -> None:
        super().__init__(message)
        self.result = result


class LostRankError(RackwrightError):
    """A process of the run is gone. `result` is what the others had measured; only one of them has it."""

    def __init__(self, message: str, result: ClusterResult | None) -> None:
        super().__init__(message)
        self.result = result
