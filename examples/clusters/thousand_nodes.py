"""1024 servers in 32 racks: half of them serve, half of them ask one partner each.

    ./rw run examples/clusters/thousand_nodes.py -- rack

Partners are in one rack, in two racks under one aggregation switch, or, unless you say so, on both sides of
the root, as in Karandikar 2024, table 2.3. validation/firesim/README.md says how servers are calibrated.
"""

import sys

from rackwright import Cluster, Traffic
from rackwright.cluster import ClosedLoop, Exponential, partner_rack, tree

WIDTHS, RACKS, PAIRS = (4, 8), 32, 16
STACK_US = 8.5


def thousand_nodes(distance: str) -> Cluster:
    """The cluster, with partners at a `distance`: rack, aggregation or root."""
    levels = tree(WIDTHS)
    serves = [
        [
            Traffic(service=Exponential(mean_us=43.5, minimum_us=22.3), cores=4, stack_us=STACK_US)
            for _ in range(PAIRS)
        ]
        for _ in range(RACKS)
    ]
    for rack, tor in enumerate(levels[-1]):
        for server in serves[rack]:
            partner = serves[partner_rack(distance, rack, WIDTHS)][serves[rack].index(server)]
            load = ClosedLoop(outstanding=1, think=Exponential(mean_us=23.5))
            client = Traffic(sends=load, to=partner, request_bytes=64, answer_bytes=250, stack_us=STACK_US)
            tor.add_downlinks([server, client])
    return Cluster(levels[0][0], seed=1, warmup_us=1000)


if __name__ == "__main__":
    where = sys.argv[1] if len(sys.argv) > 1 else "root"
    result = thousand_nodes(where).run(until_ms=20)
    print(f"partners across: {where}", result, sep="\n")
