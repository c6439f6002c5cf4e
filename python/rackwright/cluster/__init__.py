"""Clusters: servers, switches and links as plain data, checked before they are built.

    from rackwright import Cluster, Ethernet, Switch, Traffic
    from rackwright.cluster import Exponential, Poisson

    tor = Switch()
    server = Traffic(service=Exponential(mean_us=20), cores=4)
    tor.add_downlinks([server, Traffic(sends=Poisson(rate=50_000), to=server)])
    run = Cluster(tor, link=Ethernet(latency_us=2)).run(until_ms=10)

A `Traffic` server has distributions instead of a processor; `rackwright.Server` runs programs.
Ready-made topologies are in `rackwright.cluster.shapes`.
"""

from rackwright.cluster.cluster import Cluster
from rackwright.cluster.dispatch import Dispatch
from rackwright.cluster.distributions import (
    Bimodal,
    Constant,
    Distribution,
    Empirical,
    Exponential,
    LogNormal,
)
from rackwright.cluster.errors import LostRankError, TopologyError
from rackwright.cluster.host_port import HostPort
from rackwright.cluster.links import Ethernet
from rackwright.cluster.load_balancing import LoadBalancing
from rackwright.cluster.loads import Bursty, ClosedLoop, Load, Periodic, Poisson, Trace
from rackwright.cluster.nodes import MemoryBlade, Node, Switch, Traffic
from rackwright.cluster.result import ClusterResult
from rackwright.cluster.shapes import clos, fat_tree, partner_rack, tree
from rackwright.cluster.topology import Topology

__all__ = [
    "Bimodal",
    "Bursty",
    "ClosedLoop",
    "Cluster",
    "ClusterResult",
    "Constant",
    "Dispatch",
    "Distribution",
    "Empirical",
    "Ethernet",
    "Exponential",
    "HostPort",
    "Load",
    "LoadBalancing",
    "LogNormal",
    "LostRankError",
    "MemoryBlade",
    "Node",
    "Periodic",
    "Poisson",
    "Switch",
    "Topology",
    "TopologyError",
    "Trace",
    "Traffic",
    "clos",
    "fat_tree",
    "partner_rack",
    "tree",
]
