"""Two cards that make DMA, below one switch."""

from rackwright.fabric import Card, PcieLink, PcieSwitch, RootComplex

root = RootComplex()
switch = PcieSwitch(latency_ns=110)
root.connect(switch, PcieLink(gen=4, lanes=8))
switch.add_downlinks([Card("traffic"), Card("traffic")], PcieLink(gen=4, lanes=16))
