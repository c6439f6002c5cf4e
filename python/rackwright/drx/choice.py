"""The tiles of a nest: those that fit the scratchpad and take the least time."""

from __future__ import annotations

import itertools
import math

from rackwright.drx.configuration import Configuration
from rackwright.drx.costs import Costs
from rackwright.drx.interleaving import spread
from rackwright.drx.nest import Nest
from rackwright.drx.operations import Operations
from rackwright.drx.order import order_of
from rackwright.drx.tiling import Tiling, coalesced, placed
from rackwright.errors import RackwrightError


def tiled(nest: Nest, configuration: Configuration) -> Tiling:
    """The tiled nest; raises `RackwrightError` if even the smallest tile does not fit."""
    nest = spread(coalesced(nest))
    costs = Costs(nest, configuration)
    for whole in costs.tiles(nest.shape):
        return placed(costs, whole)
    choices = [costs.extents(axis) for axis in range(len(nest.shape))]
    fitting = [tile for extents in itertools.product(*choices) for tile in costs.tiles(extents)]
    if not fitting:
        raise RackwrightError(
            "an element of the result and its operands exceed the "
            f"{configuration.scratchpad_kib} KiB of the scratchpad"
        )
    every = range(len(nest.operations))
    best, least = None, math.inf
    for tile in sorted(fitting, key=costs.least):
        if best is not None and costs.least(tile) >= least:
            break
        tiling = placed(costs, tile)
        operations = Operations(tiling, configuration.lanes)
        once = order_of(nest, tile.stored).once
        early = operations.cycles(place for place in every if place not in nest.late | once)
        cycles = costs.cycles(tile, early, operations.cycles(nest.late), operations.cycles(once))
        if cycles < least:
            best, least = tiling, cycles
    assert best is not None, "the first that fits takes less than for ever"
    return best
