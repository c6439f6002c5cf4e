"""Debian's memcached on a server of four harts, under load from others through network interfaces in RTL."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from rackwright.linux.image import build_image, default_image, load_image
from rackwright.reproduce.firesim.memcached_threads import FIVE, PINNED, Bench, percentile


def test_a_percentile_is_the_least_value_that_enough_do_not_exceed() -> None:
    counts = Counter({10: 50, 30: 45, 20: 4, 99: 1})
    values = [percentile(counts, percent) for percent in (1, 50, 50.5, 54, 54.5, 99, 99.5, 100)]
    assert values == [10, 10, 20, 20, 30, 30, 99, 99]


@pytest.mark.long
def test_a_loaded_server_is_the_same_on_any_threads_of_the_host(tmp_path: Path) -> None:
    bench = Bench(tmp_path, load_image(build_image(["memcached"])), load_image(default_image()))
    for service in (FIVE, PINNED):
        points = [bench.run(service, 20_000, 20, cpu="functional", threads=threads) for threads in (1, 2)]
        assert points[0] == points[1]
        # Poisson with a mean of 400 requests.
        assert points[0].rate == pytest.approx(20_000, rel=0.25)
        assert 20 < points[0].median_us <= points[0].p95_us
