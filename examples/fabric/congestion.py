"""A network card and a graphics processor that share a switch, and so its link to the root."""

from rackwright.fabric import Card, PcieLink, PcieSwitch, RootComplex

root = RootComplex()
switch = PcieSwitch(latency_ns=110)
root.connect(switch, PcieLink(gen=3, lanes=16))
switch.add_downlinks(
    [Card("traffic", "nic"), Card("traffic", "gpu", parameters={"tags": 256})], PcieLink(gen=3, lanes=16)
)
