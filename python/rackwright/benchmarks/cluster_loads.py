"""The clusters whose speed is measured, each under a load that stays the same.

The command line lists them in its help, so that the simulator is imported only when a cluster is built.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bootstrap.paths import REPOSITORY

if TYPE_CHECKING:
    from rackwright.cluster import Cluster

_EXAMPLES = REPOSITORY / "examples" / "clusters"
_FOR_EVER = 1 << 39
"""A number of requests larger than any run completes."""


@dataclass(frozen=True)
class Scenario:
    """A cluster, its warm-up time, and the duration of one timed span."""

    what: str
    make: Callable[[], Cluster]
    warm_us: float
    span_us: float


def _hosts() -> Cluster:
    """The tree of validation/firesim/ns3_tree.cc: 64 hosts whose datagrams cross the root."""
    from rackwright.cluster import Cluster, Constant, Periodic, Traffic, partner_rack, tree

    widths, racks, pairs = (4, 4), 16, 2
    levels = tree(widths)
    serves = [[Traffic(service=Constant(0.0), cores=4) for _ in range(pairs)] for _ in range(racks)]
    for rack, tor in enumerate(levels[-1]):
        for index, server in enumerate(serves[rack]):
            partner = serves[partner_rack("root", rack, widths)][index]
            load = Periodic(rate=1e6)
            client = Traffic(sends=load, to=partner, request_bytes=1000, answer_bytes=1000, timeout_us=1000)
            tor.add_downlinks([client, server])
    return Cluster(levels[0][0], seed=1)


def _memcached(pairs: int, load: str) -> Cluster:
    example = runpy.run_path(str(_EXAMPLES / "memcached.py"))
    made: tuple[Cluster, object] = example["memcached"]("root", pairs, _FOR_EVER, load)
    return made[0]


def _thousand() -> Cluster:
    made: Cluster = runpy.run_path(str(_EXAMPLES / "thousand_nodes.py"))["thousand_nodes"]("root")
    return made


SCENARIOS = {
    "hosts-64": Scenario("64 `traffic` hosts, 64 M datagrams/s across the root", _hosts, 200, 5_000),
    "busy-64": Scenario(
        "64 `rocket` servers that always have work: memcached, 4 requests under way each",
        lambda: _memcached(1, "outstanding=4"),
        300,
        300,
    ),
    "memcached-64": Scenario(
        "64 `rocket` servers, 10,000 requests/s for each pair",
        lambda: _memcached(1, "rate=10000"),
        300,
        5_000,
    ),
    "traffic-1024": Scenario("1024 `traffic` servers, load of firesim-t2.3", _thousand, 1_000, 20_000),
    "memcached-1024": Scenario(
        "1024 `rocket` servers, load of firesim-t2.3", lambda: _memcached(16, "rate=10000"), 500, 500
    ),
}
"""By name."""
