"""A load from start to end."""

from __future__ import annotations

import json
from collections.abc import Callable

from rackwright.loadtest.plan import LoadPlan
from rackwright.loadtest.result import LoadResult
from rackwright.loadtest.simulated import SimulatedServices, simulate_load

_LOOK_SECONDS = 0.5


def put_load(plan: LoadPlan, tell: Callable[[int], None] | None = None) -> LoadResult:
    """Sends the load to its targets and waits until each request has a response or is lost.

    `tell` is called from time to time with the number of sent requests. Raises `EngineError` for invalid
    plans, and the errors of `simulate_load`.
    """
    if isinstance(plan.targets, SimulatedServices):
        return simulate_load(plan.targets, plan, tell)
    from rackwright._engine import Loadtest

    load = Loadtest(json.dumps(plan.describe()))
    try:
        while not load.wait(_LOOK_SECONDS):
            if tell is not None:
                tell(load.sent)
    finally:
        load.stop()
    return LoadResult.read(json.loads(load.report()))
