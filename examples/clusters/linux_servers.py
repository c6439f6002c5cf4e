"""Linux servers that all go on from one checkpoint, in racks of 32, each of which pings the next one.

    ./rw boot --memory 256MiB --checkpoint booted.checkpoint
    ./rw run examples/clusters/linux_servers.py -- booted.checkpoint 64

They share the memory that they have not written since. With a third argument, they then idle until so many
milliseconds have passed.
"""

import sys

from rackwright import Cluster, Linux, Server, Switch

RACK = 32
STAY = "while sleep 3600; do :; done"


def in_a_ring(checkpoint: str, count: int) -> Cluster:
    """So many servers, two at least, that ask each other."""
    servers = [_server(checkpoint, index, (index + 1) % count) for index in range(count)]
    return Cluster(_above([_rack(servers[first : first + RACK]) for first in range(0, count, RACK)]))


def _server(checkpoint: str, index: int, asked: int) -> Server:
    # The other one has its address by then; Linux would ask again only a second later.
    command = f"sleep 0.02; ping -c 1 {_address(asked)}; {STAY}"
    return Server(
        "functional",
        workload=Linux(run=command, checkpoint=checkpoint),
        name=f"linux{index}",
        ip=_address(index),
    )


def _address(index: int) -> str:
    return f"172.16.{1 + index // RACK}.{1 + index % RACK}"


def _rack(servers: list[Server]) -> Switch:
    switch = Switch()
    switch.add_downlinks(servers)
    return switch


def _above(racks: list[Switch]) -> Switch:
    if len(racks) == 1:
        return racks[0]
    switch = Switch()
    switch.add_downlinks(racks)
    return switch


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or int(sys.argv[2]) < 2:
        sys.exit("usage: linux_servers.py CHECKPOINT SERVERS [MILLISECONDS], two servers at least")
    cluster = in_a_ring(sys.argv[1], int(sys.argv[2]))
    result = cluster.run(until_ms=int(sys.argv[3]) if len(sys.argv) > 3 else 60)
    print(result)
    answered = result.servers["stdout"].str.contains("1 packets received").sum()
    print(f"{answered} of {len(result.servers)} servers had an answer")
