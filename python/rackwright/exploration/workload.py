"""What a unit does with a call of a suite: one entry for each unit that can be explored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rackwright.designs import ParameterValue


@dataclass(frozen=True)
class Workload:
    """`operation` names the calls that the unit serves, in `format`; `settings` are the values of each."""

    format: str
    operation: str
    settings: Mapping[str, Sequence[ParameterValue]]


WORKLOADS = {
    "snappy-compress": Workload("snappy", "compress", {"hash_entries": [1 << log2 for log2 in range(9, 15)]}),
    "snappy-decompress": Workload("snappy", "decompress", {"history_kib": [2, 4, 8, 16, 32, 64]}),
}
"""By the name of the unit."""
