"""Clients ask a memcached over UDP that no hart answers: a tile with `network` and one with `store` do.

    ./rw run examples/pengwing/memcached.py -- 4 units
    ./rw run examples/pengwing/memcached.py -- 4 program

The first word is the number of clients (`rocket` harts with NICs in RTL, which run
software/network/programs/mutilate.c and verify every answer); the second says who answers them: the units of
examples/pengwing/store.yaml, or a program on a hart behind a NIC.
"""

import sys
from pathlib import Path

from rackwright import BareMetal, Cluster, Ethernet, Server, Switch

TILES = Path(__file__).parent / "store.yaml"


def cluster(clients: int, by: str, *options: str) -> tuple[Cluster, Server, list[Server]]:
    """The cluster, its server, and its clients, to which `options` of mutilate.c are given."""
    if by == "units":
        server = Server(name="server", tiles=TILES, workload=BareMetal("store.elf"))
    else:
        server = Server(name="server", workload=BareMetal("memcached.elf"))
    asks = [
        Server(
            name=f"client{number}", workload=BareMetal("mutilate.elf", [server, f"seed={number}", *options])
        )
        for number in range(clients)
    ]
    switch = Switch()
    switch.add_downlinks([server, *asks])
    return Cluster(switch, link=Ethernet(gbps=100, latency_us=0.5)), server, asks


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    by = sys.argv[2] if len(sys.argv) > 2 else "units"
    made, server, asks = cluster(count, by, "requests=50", "keys=8", "value=fixed:64", "key=fixed:16")
    result = made.run(until_ms=5, ends_with=asks)
    servers = result.servers.set_index("name")
    for client in asks:
        words = servers["stdout"][client.name].split()
        said = dict(zip(words[::2], map(int, words[1::2]), strict=True))
        counts = f"{said['answered']} answered, {said['wrong']} wrong"
        print(f"{client.name}: {counts}, p50 {said['p50'] / 2000:.2f} us")
    print(f"instructions of the server: {servers['instructions'][server.name]}")
