"""What units of ours are explored with: one entry for each unit that can be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rackwright.designs import ParameterValue

_HISTORY = {"history_kib": [2, 4, 8, 16, 32, 64]}
_DEFLATE_HISTORY = {"history_kib": [2, 4, 8, 16, 32]}


def _hash_entries(most_log2: int) -> dict[str, list[int]]:
    return {"hash_entries": [1 << log2 for log2 in range(9, most_log2 + 1)]}


@dataclass(frozen=True)
class Workload:
    """`operation` names the calls of a suite that the unit serves, in `format`.

    `settings` are the values of each.
    """

    format: str
    operation: str
    settings: Mapping[str, Sequence[ParameterValue]]


WORKLOADS = {
    "snappy-compress": Workload("snappy", "compress", {**_hash_entries(14), **_HISTORY}),
    "snappy-decompress": Workload("snappy", "decompress", _HISTORY),
    "zstd-compress": Workload("zstd", "compress", {**_hash_entries(15), **_HISTORY}),
    "zstd-decompress": Workload("zstd", "decompress", _HISTORY),
    "deflate-compress": Workload("deflate", "compress", {**_hash_entries(15), **_DEFLATE_HISTORY}),
    "deflate-decompress": Workload("deflate", "decompress", _DEFLATE_HISTORY),
}
"""By the name of the unit."""
