"""Workloads of our units: one entry for each unit that can be explored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rackwright.formats import FORMATS
from rackwright.hardware.designs import ParameterValue


@dataclass(frozen=True)
class Workload:
    """`operation` names the calls of a suite that the unit serves, in `format`.

    `settings` are the values of each.
    """

    format: str
    operation: str
    settings: Mapping[str, Sequence[ParameterValue]]


WORKLOADS = {
    f"{each.name}-{operation}": Workload(each.name, operation, settings)
    for each in FORMATS.values()
    for operation, settings in each.explored.items()
}
"""By the name of the unit."""
