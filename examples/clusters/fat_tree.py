"""A fat tree of 4-port switches with short buffers: policies compared, one port captured, and drawn.

    python fat_tree.py [FOLDER]

FOLDER gets `fat_tree.svg` and `core0.pcapng`.
"""

import functools
import sys
import tempfile
from pathlib import Path

from rackwright import Cluster, Ethernet, Switch, Traffic
from rackwright.cluster import Constant, Poisson, fat_tree


def cluster(policy: str) -> Cluster:
    """16 servers that all ask each other, on links of 10 Gbit/s."""
    switch = functools.partial(Switch, policy=policy, buffer_kib=16)
    _, _, tors = fat_tree(4, switch=switch)
    servers = [
        Traffic(sends=Poisson(rate=300_000), answer_bytes=1400, service=Constant(2), cores=8)
        for _ in range(16)
    ]
    for index, server in enumerate(servers):
        server.to = [other for other in servers if other is not server]
        tors[index // 2].add_downlinks([server])
    return Cluster(tors[0], link=Ethernet(gbps=10, latency_us=1), seed=1)


folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
for policy in ("flow-hash", "least-queued"):
    topology = cluster(policy)
    topology.draw(folder / "fat_tree.svg")
    result = topology.run(until_ms=5, pcap=folder / "core0.pcapng", pcap_ports=["core0.port0"])
    print(f"{policy}: p99 {result.latency['p99_us']:.1f} us, {result.ports['dropped'].sum()} dropped")
