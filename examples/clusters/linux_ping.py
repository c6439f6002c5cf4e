"""Two servers that boot Debian's Linux: the first pings the second through network interfaces in RTL.

./rw run examples/clusters/linux_ping.py
"""

from rackwright import Cluster, Ethernet, Linux, Server, Switch

answers = Server("functional", workload=Linux("default"), name="answers")
asks = Server(
    "functional", workload=Linux("default", run=["sleep 0.05; ping -c 3 -i 0.01 ", answers]), name="asks"
)
switch = Switch("tor0")
switch.add_downlinks([answers, asks])

cluster = Cluster(switch, link=Ethernet(gbps=200, latency_us=2))
result = cluster.run(until_ms=10_000, ends_with=asks)
print(result)
servers = result.servers.set_index("name")
print(servers[["ip", "instructions", "packets_sent", "packets_received", "exit_code"]])
print(servers["stdout"]["asks"])
