"""Ready-made topologies. Each function returns the switches; servers are linked below the last list."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rackwright.cluster.errors import TopologyError
from rackwright.cluster.links import Ethernet
from rackwright.cluster.nodes import Switch

MakeSwitch = Callable[[str], Switch]
"""Creates a switch with the given name."""


def tree(
    widths: Sequence[int], *, switch: MakeSwitch = Switch, link: Ethernet | None = None
) -> list[list[Switch]]:
    """A tree of switches, level by level: one root, `widths[0]` below it, `widths[1]` below each, ….

    `tree([4, 8])` is the network of Karandikar 2024, section 2.5: a root, 4 aggregation switches, and
    32 top-of-rack switches. Names are `root`, `level1-0`, …; the last level is called `tor0`, ….
    """
    levels = [[switch("root")]]
    for depth, width in enumerate(widths, start=1):
        prefix = "tor" if depth == len(widths) else f"level{depth}-"
        below: list[Switch] = []
        for parent in levels[-1]:
            children = [switch(f"{prefix}{len(below) + index}") for index in range(width)]
            parent.add_downlinks(children, link)
            below += children
        levels.append(below)
    return levels


def partner_rack(distance: str, rack: int, widths: tuple[int, int]) -> int:
    """A rack at a distance from another in `tree(widths)`, the partner of no other rack.

    `distance` is "rack" for the same one, "aggregation" for another below the same aggregation switch, or
    "root" for one on the other side of the root, as in Karandikar 2024, table 2.3.
    """
    above, below = widths
    steps = {"rack": (0, 1), "aggregation": (1, below), "root": (below, above * below)}
    if distance not in steps:
        raise TopologyError(f"partners are at a distance of {', '.join(steps)}, not {distance}")
    step, among = steps[distance]
    return rack // among * among + (rack + step) % among


def clos(
    roots: int, leaves: int, *, switch: MakeSwitch = Switch, link: Ethernet | None = None
) -> list[list[Switch]]:
    """Two levels in which every leaf is linked to every root. Flows share the roots."""
    if roots < 1 or leaves < 1:
        raise TopologyError(f"a Clos network has roots and leaves, not {roots} and {leaves}")
    tops = [switch(f"root{index}") for index in range(roots)]
    bottoms = [switch(f"tor{index}") for index in range(leaves)]
    for top in tops:
        top.add_downlinks(bottoms, link)
    return [tops, bottoms]


def fat_tree(ports: int, *, switch: MakeSwitch = Switch, link: Ethernet | None = None) -> list[list[Switch]]:
    """The three-level fat tree of switches with `ports` ports each (an even number).

    There are (ports/2)^2 core switches, and ports/2 aggregation and ports/2 top-of-rack switches in each
    of `ports` pods; ports/2 servers fit below each of the latter.
    """
    if ports < 2 or ports % 2:
        raise TopologyError(f"the switches of a fat tree have an even number of ports, not {ports}")
    half = ports // 2
    cores = [switch(f"core{index}") for index in range(half * half)]
    aggregation: list[Switch] = []
    tors: list[Switch] = []
    for pod in range(ports):
        upper = [switch(f"aggregation{pod * half + index}") for index in range(half)]
        lower = [switch(f"tor{pod * half + index}") for index in range(half)]
        for index, middle in enumerate(upper):
            for core in cores[index * half : (index + 1) * half]:
                core.connect(middle, link)
            middle.add_downlinks(lower, link)
        aggregation += upper
        tors += lower
    return [cores, aggregation, tors]
