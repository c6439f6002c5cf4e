"""Gets from the wire: clients ask the stores of a server at a rate that does not depend on its answers.

    ./rw run examples/pengwing/gets.py -- shards.yaml 4 1 24 13 26

The words are a file of tiles beside this one, the number of its stores, keys per request, the number of
clients, and rates in millions of gets a second that are offered one after the other. Keys have 16 bytes,
values have 64; the popularity of the 1,024 keys follows Zipf's law with an exponent of 0.99. The clients are
`rocket` harts with NICs in RTL, which verify every answer (software/network/programs/gets.c); one sends and
verifies about a million requests a second.
"""

import sys
from pathlib import Path

from rackwright import BareMetal, Cluster, Ethernet, Server, Switch

KEYS, HERTZ = 1024, 2_000_000_000
START, CYCLES = 7_000_000, 200_000


def offered(tiles: str, stores: int, batch: int, count: int, rate: float) -> tuple[float, float, int, str]:
    """Gets a second that were sent and answered, in millions, answers that were wrong, and the digest."""
    shards = [f"shards={stores}"] if stores > 1 else []
    server = Server(
        name="server", tiles=Path(__file__).parent / tiles, workload=BareMetal("store.elf", shards)
    )
    gap = round(HERTZ * count * batch / (rate * 1e6))
    share = -(-KEYS // count)
    clients = []
    for number in range(count):
        first = number * share
        options = {"keys": KEYS, "first": first, "fill": min(share, KEYS - first), "shards": stores}
        options |= {"batch": batch, "gap": gap, "start": START, "cycles": CYCLES, "seed": number}
        words = [f"{name}={value}" for name, value in options.items()]
        clients.append(Server(name=f"client{number}", workload=BareMetal("gets.elf", [server, *words])))
    switch = Switch()
    switch.add_downlinks([server, *clients])
    cluster = Cluster(switch, link=Ethernet(gbps=100, latency_us=0.5))
    result = cluster.run(until_ms=5, ends_with=clients)
    told = result.servers.set_index("name")["stdout"]
    totals = dict.fromkeys(("sent", "answered", "wrong"), 0)
    for client in clients:
        words = told[client.name].split()
        for name, value in zip(words[::2], words[1::2], strict=True):
            totals[name] += int(value)
    measured = 0.75 * CYCLES / HERTZ
    sent, answered = (totals[name] / measured / 1e6 for name in ("sent", "answered"))
    return sent, answered, totals["wrong"], result.digest


if __name__ == "__main__":
    tiles, stores, batch, count, *rates = sys.argv[1:] or ["store.yaml", "1", "8", "4", "14", "28"]
    for rate in rates:
        sent, answered, wrong, digest = offered(tiles, int(stores), int(batch), int(count), float(rate))
        print(f"{sent:.1f} M/s sent, {answered:.1f} M/s answered, {wrong} wrong, digest {digest}", flush=True)
