"""A Snappy decompressor on a card, beside one that makes DMA, below a switch."""

from rackwright.fabric import Card, PcieLink, PcieSwitch, RootComplex

root = RootComplex()
switch = PcieSwitch(latency_ns=110)
root.connect(switch, PcieLink(gen=4, lanes=16))
cards = [Card("snappy-decompress", "snappy", parameters={"history-kib": 16}), Card("traffic", model=True)]
switch.add_downlinks(cards, PcieLink(gen=4, lanes=16))
