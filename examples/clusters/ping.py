"""Two racks under one root, `rocket` cores with NICs in RTL: a server of the first pings one of the second.

./rw run examples/clusters/ping.py
"""

from rackwright import BareMetal, Cluster, Ethernet, Server, Switch

root = Switch("root")
tors = [Switch("tor0"), Switch("tor1")]
root.add_downlinks(tors)

answers = [Server(workload=BareMetal("ping.elf")) for _ in range(8)]
tors[1].add_downlinks(answers)
asks = Server(name="asks", workload=BareMetal("ping.elf", [answers[3], "5"]))
tors[0].add_downlinks([asks, *(Server(workload=BareMetal("ping.elf")) for _ in range(7))])

cluster = Cluster(root, link=Ethernet(gbps=200, latency_us=2))
result = cluster.run(until_ms=1, ends_with=asks)
print(result)
servers = result.servers.set_index("name")
print(servers[["ip", "instructions", "packets_sent", "packets_received", "exit_code"]])
for number, cycles in enumerate(servers["stdout"]["asks"].split(), start=1):
    print(f"round trip {number}: {int(cycles) / 2000:.3f} us")
