"""Independent jobs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_Job = TypeVar("_Job")
_Made = TypeVar("_Made")


def side_by_side(make: Callable[[_Job], _Made], jobs: Iterable[_Job]) -> list[_Made]:
    """Results of `make` for each job, in their order, with as many jobs at a time as there are processors.

    Raises the first job's exception; jobs that have not started are then skipped.
    """
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        return list(pool.map(make, jobs))
