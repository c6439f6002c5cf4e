"""What it costs to observe a machine: the same run in each way."""

from __future__ import annotations

import pytest

from rackwright.errors import RackwrightError
from rackwright.linux.image import default_image, load_image
from rackwright.reproduce.fireperf.rate import COUNTERS, WATCHINGS, costs, outcome


@pytest.mark.long("10 s; tests of profiles compare digests with and without observers; the rest are rates")
def test_all_ways_to_observe_give_the_same_run() -> None:
    image = load_image(default_image())
    (found,) = costs(image, "true", 1, harts=1)
    made = outcome(found)
    assert len(COUNTERS) == 15
    assert len(set(made.digests)) == 1
    rates = {row.quantity: row.ours for row in made.rows}
    assert rates["rate, alone"] > 0
    # How fast a busy machine simulates is for people to look at.
    assert all(rates[f"rate, {way} over alone"] > 0 for way in WATCHINGS)
    with pytest.raises(RackwrightError, match="false ended with status 1"):
        next(costs(image, "false", 1, harts=1))
