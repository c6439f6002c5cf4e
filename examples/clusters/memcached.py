"""memcached on `rocket` cores with NICs in RTL, in 32 racks: half of them serve, half ask a partner each.

    ./rw run examples/clusters/memcached.py -- root 1

Partners are in one `rack`, in two racks under one `aggregation` switch, or on both sides of the `root`, as in
Karandikar 2024, table 2.3; the number is that of pairs per rack: 16 make the thousand nodes of the paper.
"""

import sys

from rackwright import BareMetal, Cluster, Server
from rackwright.cluster import ClusterResult, partner_rack, tree

WIDTHS, RACKS = (4, 8), 32
LOAD = "rate=10000"
"""Requests per second, an open loop; for others, see software/network/programs/mutilate.c."""


def memcached(distance: str, pairs: int, requests: int, load: str = LOAD) -> tuple[Cluster, list[Server]]:
    """The cluster, and its load generators, which end after so many `requests` each."""
    levels = tree(WIDTHS)
    serves = [[Server(workload=BareMetal("memcached.elf")) for _ in range(pairs)] for _ in range(RACKS)]
    asks = []
    for rack, tor in enumerate(levels[-1]):
        for index, server in enumerate(serves[rack]):
            options = [load, f"requests={requests}", "keys=4"]
            partner = serves[partner_rack(distance, rack, WIDTHS)][index]
            seed = f"seed={rack * pairs + index}"
            # 512 broadcasts that 1024 servers hear are no part of what is measured.
            asks.append(
                Server(workload=BareMetal("mutilate.elf", [partner, *options, seed], static_arp=True))
            )
            tor.add_downlinks([server, asks[-1]])
    return Cluster(levels[0][0]), asks


def latencies_us(result: ClusterResult, name: str) -> list[float]:
    """What each load generator has printed under a name, in microseconds."""
    words = [text.split() for text in result.servers["stdout"] if text]
    return [int(each[each.index(name) + 1]) / 2000 for each in words]


if __name__ == "__main__":
    where = sys.argv[1] if len(sys.argv) > 1 else "root"
    cluster, asks = memcached(where, int(sys.argv[2]) if len(sys.argv) > 2 else 1, requests=5)
    result = cluster.run(until_ms=20, ends_with=asks)
    medians = latencies_us(result, "p50")
    print(f"partners across: {where}", result, sep="\n")
    print(f"median latencies of the load generators: {min(medians):.2f} to {max(medians):.2f} us")
