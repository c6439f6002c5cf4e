"""Jobs that need nothing of each other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_Job = TypeVar("_Job")
_Made = TypeVar("_Made")


def side_by_side(make: Callable[[_Job], _Made], jobs: Iterable[_Job]) -> list[_Made]:
    """What `make` makes of each job, in their order, as many at a time as there are processors.

    Raises what the first one raised; those that have not begun are not begun then.
    """
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        return list(pool.map(make, jobs))
