"""Two racks under one root: clients of the first ask servers of the second."""

from rackwright import Cluster, Ethernet, Switch, Traffic
from rackwright.cluster import Exponential, Poisson

root = Switch("root")
tors = [Switch("tor0"), Switch("tor1")]
root.add_downlinks(tors)

servers = [Traffic(f"server{n}", service=Exponential(mean_us=20), cores=4) for n in range(8)]
clients = [Traffic(f"client{n}", sends=Poisson(rate=100_000), to=servers) for n in range(8)]
tors[0].add_downlinks(clients)
tors[1].add_downlinks(servers, link=Ethernet(gbps=100, latency_us=1))

cluster = Cluster(root, link=Ethernet(latency_us=2), seed=1, warmup_us=1000)
print(cluster)
result = cluster.run(until_ms=20)
print(result)
print(result.servers[["name", "ip", "requests", "served", "latency_p50_us", "wait_p99_us"]])
