"""PCI Express: DMA of a card, and two cards that share a port of a switch."""
