"""The tiles of a nest: those that fit the scratchpad and take the least time."""

from __future__ import annotations

import itertools
import math
from operator import itemgetter

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
    for whole in filter(costs.fits, costs.tiles(nest.shape)):
        return placed(costs, whole)
    choices = [costs.extents(axis) for axis in range(len(nest.shape))]
    found = [tile for extents in itertools.product(*choices) for tile in costs.tiles(extents)]
    every = range(len(nest.operations))
    best, least = None, math.inf
    # Whether a tile fits takes longer to find than how long it takes at least.
    for bound, tile in sorted(((costs.least(tile), tile) for tile in found), key=itemgetter(0)):
        if bound >= least:
            break
        if not costs.fits(tile):
            continue
        # The number of cycles does not depend on addresses.
        operations = Operations(placed(costs, tile, by_banks=False), configuration.lanes)
        once = order_of(nest, tile.stored).once
        early = operations.cycles(place for place in every if place not in nest.late | once)
        cycles = costs.cycles(tile, early, operations.cycles(nest.late), operations.cycles(once))
        if cycles < least:
            best, least = tile, cycles
    if best is None:
        raise RackwrightError(
            "an element of the result and its operands exceed the "
            f"{configuration.scratchpad_kib} KiB of the scratchpad"
        )
    return placed(costs, best)
