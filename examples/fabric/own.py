"""A DMA engine of your own on a card, in SystemVerilog, beside another card below a switch."""

from pathlib import Path

from rackwright.fabric import Card, PcieLink, PcieSwitch, RootComplex

MANIFEST = Path(__file__).resolve().parent.parent / "bring-your-own" / "axi" / "manifest.json"

root, switch = RootComplex(), PcieSwitch()
root.connect(switch, PcieLink(gen=4, lanes=16))
switch.add_downlinks([Card("traffic", model=True), Card(MANIFEST)], PcieLink(gen=4, lanes=8))
