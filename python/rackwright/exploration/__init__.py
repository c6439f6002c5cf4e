"""Exploring a design space: `rw explore`.

A space names a unit, a suite of calls, and the varied parameters: parameters of elaboration, settings at run
time, placements. Every combination is a point. Points are measured on samples of the suite that are large
enough for the requested standard error, on any `concurrent.futures` executor, and stored, so that no
measurement is repeated and an interrupted exploration resumes.

    from rackwright.exploration import explore, load_space

    result = explore(load_space("space.yaml"))
    print(result.frame())

A unit of one's own is explored with calls that a class derived from `UnitWorkload` makes and checks.
"""

from rackwright.exploration.explore import Exploration, explore
from rackwright.exploration.own_calls import UnitWorkload
from rackwright.exploration.point import Point
from rackwright.exploration.space import Space, load_space

__all__ = ["Exploration", "Point", "Space", "UnitWorkload", "explore", "load_space"]
