"""Small clusters that several tests use."""

from __future__ import annotations

from rackwright import Cluster, Switch, Traffic
from rackwright.cluster import Exponential, Poisson


def rack(pairs: int = 2, rate: float = 200_000, seed: int = 0) -> Cluster:
    """One switch `tor`, and pairs of a client and the server that it asks."""
    tor = Switch("tor")
    for index in range(pairs):
        server = Traffic(f"server{index}", service=Exponential(mean_us=3), cores=2)
        client = Traffic(f"client{index}", sends=Poisson(rate), to=server, answer_bytes=500)
        tor.add_downlinks([server, client])
    return Cluster(tor, seed=seed)
