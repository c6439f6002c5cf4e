"""Servers with cores and NICs in RTL that boot memcached and wait for requests which never come.

    ./rw run examples/clusters/idle.py -- 1024

A hart that waits, and a NIC in which nothing moves, cost nothing: what takes time is to build and boot them.
"""

import sys

from rackwright import BareMetal, Cluster, Server
from rackwright.cluster import tree

RACKS, AGGREGATION = 32, 4


def idle(servers: int) -> Cluster:
    """So many servers, a multiple of 32, in 32 racks."""
    levels = tree([AGGREGATION, RACKS // AGGREGATION])
    for tor in levels[-1]:
        tor.add_downlinks([Server(workload=BareMetal("memcached.elf")) for _ in range(servers // RACKS)])
    return Cluster(levels[0][0])


if __name__ == "__main__":
    servers = int(sys.argv[1]) if len(sys.argv) > 1 else RACKS
    if servers < RACKS or servers % RACKS:
        sys.exit(f"idle.py: {servers} servers are not a multiple of {RACKS} racks")
    result = idle(servers).run(until_ms=10)
    print(result)
    print(f"{result.servers['instructions'].sum():,} instructions, all of them to boot")
