"""What helps iperf3 between two Linux servers: what is made of a run, and one run."""

from __future__ import annotations

from itertools import pairwise

import pandas as pd
import pytest

from rackwright import NicFeatures, RackwrightError
from rackwright.linux.image import build_image, load_image
from rackwright.reproduce.fireperf.copies import booted
from rackwright.reproduce.fireperf.network import (
    BUFFERS,
    STEPS,
    carried,
    fills,
    ring_chart,
    ring_quantities,
    transfer,
)


def test_cycles_of_the_transfer_are_told_by_the_fill_of_the_ring() -> None:
    counts = {"name": "sends", "nic_send_ring_0": 900, "nic_send_ring_1": 10, "nic_send_ring_2_3": 30}
    ring = fills(counts, 200)
    assert ring == {"0": 160, "1": 10, "2 to 3": 30}
    assert ring_quantities(ring) == {
        "not empty": 0.2,
        "frames while not empty, at least": 1.75,
        "cycles at 1": 10,
        "cycles at 2 to 3": 30,
    }
    chart = ring_chart(dict.fromkeys(("one", "two", "three"), ring))
    assert chart.count('class="rect reactive') == 6
    assert "30 three" in chart


def test_what_iperf3_does_not_say_is_told_by_its_port() -> None:
    rates = [0.004] * 20 + [0.0] * 5 + [2.0] * 60 + [0.0] * 20 + [2.0] * 50
    samples = pd.DataFrame({"time_us": [1000.0 * at for at in range(len(rates))], "sent_gbps": rates})
    # 80 milliseconds of the first hundred; of 1514 bytes, 1448.
    assert carried(samples, 1500) == pytest.approx(2.0 * 0.8 * 1448 / 1514)
    assert carried(samples[:25], 1500) == 0


def test_each_step_has_what_those_before_it_have() -> None:
    for before, step in pairwise(STEPS):
        assert step.vector >= before.vector
        assert step.mtu >= before.mtu
        for name in ("checksums", "mergeable", "suppression"):
            assert getattr(step.features, name) >= getattr(before.features, name)


def test_registers_hold_what_is_asked_for() -> None:
    for frames, delay in ((1 << 16, 0), (-1, 0), (0, 1 << 32)):
        with pytest.raises(RackwrightError, match="an interrupt"):
            NicFeatures(frames=frames, delay=delay)


@pytest.mark.long
def test_iperf3_reaches_more_with_everything_than_with_nothing() -> None:
    image = load_image(build_image(["iperf3"]))
    reached = {}
    for step in (STEPS[0], STEPS[-1]):
        with booted(image, 1, vector=step.vector, before=BUFFERS) as checkpoint:
            reached[step.name] = transfer(checkpoint, step)
            assert transfer(checkpoint, step) == reached[step.name]
    assert reached["jumbo frames"].gbps > 2 * reached["baseline"].gbps
