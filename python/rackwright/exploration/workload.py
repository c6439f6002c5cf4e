"""What a unit does with a call of a suite: one entry for each unit that can be explored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from rackwright.codec import CodecUnit
from rackwright.deflate import DeflateUnit
from rackwright.designs import ParameterValue
from rackwright.snappy import SnappyUnit
from rackwright.zstd import ZstdUnit

_HISTORY = {"history_kib": [2, 4, 8, 16, 32, 64]}


def _hash_entries(most_log2: int) -> dict[str, list[int]]:
    return {"hash_entries": [1 << log2 for log2 in range(9, most_log2 + 1)]}


@dataclass(frozen=True)
class Workload:
    """`operation` names the calls that the unit serves, in `format`.

    `settings` are the values of each; `build` makes the unit, with settings, parameters and placement.
    """

    format: str
    operation: str
    settings: Mapping[str, Sequence[ParameterValue]]
    build: Callable[..., CodecUnit]

    def unit(self, parameters: Mapping[str, Any], settings: Mapping[str, Any], placement: str) -> CodecUnit:
        """A unit fresh from reset."""
        return self.build(self.operation, parameters=parameters, placement=placement, **settings)


WORKLOADS = {
    "snappy-compress": Workload("snappy", "compress", {**_hash_entries(14), **_HISTORY}, SnappyUnit),
    "snappy-decompress": Workload("snappy", "decompress", _HISTORY, SnappyUnit),
    "zstd-compress": Workload("zstd", "compress", {**_hash_entries(15), **_HISTORY}, ZstdUnit),
    "zstd-decompress": Workload("zstd", "decompress", _HISTORY, ZstdUnit),
    "deflate-compress": Workload(
        "deflate",
        "compress",
        {**_hash_entries(15), "history_kib": [2, 4, 8, 16, 32]},
        partial(DeflateUnit, wrapper="deflate"),
    ),
    "deflate-decompress": Workload(
        "deflate",
        "decompress",
        {"history_kib": [2, 4, 8, 16, 32]},
        partial(DeflateUnit, wrapper="deflate"),
    ),
}
"""By the name of the unit."""
