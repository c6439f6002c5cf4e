"""A server's PCIe fabric: a root complex, switches and cards, joined by links.

    root = RootComplex()
    switch = PcieSwitch(latency_ns=110)
    root.connect(switch, PcieLink(gen=4, lanes=8))
    switch.add_downlinks([Card("traffic"), Card("traffic")], PcieLink(gen=4, lanes=16))

`./rw fabric` runs a script that creates one. docs/fabric.md is the guide.
"""

from rackwright.fabric.attached import AttachedFabric
from rackwright.fabric.nodes import Card, PcieSwitch, RootComplex
from rackwright.fabric.system import System, load_system
from rackwright.fabric.values import Credits, PcieLink

__all__ = [
    "AttachedFabric",
    "Card",
    "Credits",
    "PcieLink",
    "PcieSwitch",
    "RootComplex",
    "System",
    "load_system",
]
