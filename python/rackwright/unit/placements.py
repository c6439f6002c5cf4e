"""Where units can sit; it needs no engine, so that --help works before one is built."""

from enum import StrEnum


class Placement(StrEnum):
    """Where a unit can sit; see docs/how-time-works.md for what each one costs."""

    near_core = "near-core"
    chiplet = "chiplet"
    pcie_cached = "pcie-cached"
    pcie = "pcie"


PLACEMENTS = tuple(each.value for each in Placement)
"""All but the first are also links, of which several make a route: `chiplet+pcie`."""
