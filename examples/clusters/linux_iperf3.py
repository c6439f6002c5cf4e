"""Two servers that boot Debian's Linux: iperf3 of one sends to the other through network interfaces in RTL.

./rw run examples/clusters/linux_iperf3.py
./rw profile -o made -- run examples/clusters/linux_iperf3.py    # where the cycles go, from reset on
"""

from rackwright import Cluster, Ethernet, Linux, Server, Switch
from rackwright.linux.image import build_image

image = build_image(["iperf3"])
receives = Server("functional", workload=Linux(image, run="iperf3 -s -1"), name="receives")
sends = Server(
    "functional", workload=Linux(image, run=["sleep 0.05; iperf3 -n 2M -i 0.1 -c ", receives]), name="sends"
)
switch = Switch("tor0")
switch.add_downlinks([receives, sends])

cluster = Cluster(switch, link=Ethernet(gbps=200, latency_us=2))
result = cluster.run(until_ms=10_000, ends_with=sends)
print(result)
servers = result.servers.set_index("name")
print(servers[["ip", "instructions", "packets_sent", "packets_received", "exit_code"]])
print(servers["stdout"]["sends"])
