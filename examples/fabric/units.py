"""A Snappy decompressor on a card with memory, beside one that makes DMA, below a switch."""

from rackwright.fabric import Card, PcieLink, PcieSwitch, RootComplex

root = RootComplex()
switch = PcieSwitch(latency_ns=110)
root.connect(switch, PcieLink(gen=4, lanes=16))
snappy = Card("snappy-decompress", "snappy", parameters={"history-kib": 16}, memory="8GiB")
cards = [snappy, Card("traffic", model=True)]
switch.add_downlinks(cards, PcieLink(gen=4, lanes=16))
