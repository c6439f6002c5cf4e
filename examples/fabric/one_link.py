"""The smallest fabric: a card that makes DMA, below the root complex of a server."""

from rackwright.fabric import Card, PcieLink, RootComplex

root = RootComplex()
root.connect(Card("traffic"), PcieLink(gen=3, lanes=8))
