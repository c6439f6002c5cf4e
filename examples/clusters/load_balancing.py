"""Replicas of services in several racks, and who chooses among them: `rw run … -- --policy NAME`."""

import argparse

from rackwright.cluster import Dispatch, LoadBalancing
from rackwright.cluster.load_balancing import POLICIES, SERVICE_TIMES

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--policy", choices=POLICIES, default="daronpon")
parser.add_argument(
    "--service", choices=SERVICE_TIMES, default="exponential", help="distribution of service times"
)
parser.add_argument("--load", type=float, default=0.8, help="share of all cores that work takes")
parser.add_argument("--racks", type=int, default=3)
parser.add_argument("--services", type=int, default=2)
parser.add_argument("--replicas", type=int, default=1, help="of each service in each rack")
parser.add_argument(
    "--gossip-floor", type=int, default=4, help="requests under way from which loads are told"
)
parser.add_argument("--requests", type=int, default=100_000)
asked = parser.parse_args()

balancing = LoadBalancing(
    policy=asked.policy,
    service=SERVICE_TIMES[asked.service],
    load=asked.load,
    racks=asked.racks,
    services=asked.services,
    replicas=asked.replicas,
    dispatch=Dispatch(gossip_floor=asked.gossip_floor),
)
result = balancing.cluster().run(until_ms=balancing.duration_ms(asked.requests))
print(result)
if "dispatch_requests" in result.switches:
    racks = result.switches.filter(like="dispatch_").sum()
    requests = racks["dispatch_requests"]
    for what in ("gossip", "truths", "redirected"):
        print(f"{what}: {100 * racks['dispatch_' + what] / requests:.2f} % of requests")
