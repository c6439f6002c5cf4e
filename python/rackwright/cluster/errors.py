"""What is wrong with a topology."""

from __future__ import annotations

from rackwright.errors import RackwrightError


class TopologyError(RackwrightError):
    """A topology that cannot be built; the message names the nodes or the two ends concerned."""
