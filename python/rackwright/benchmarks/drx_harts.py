"""Kernels of DRX beside the same as programs in C, on harts with vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import numpy as np

from rackwright.drx.arrays import random_inputs
from rackwright.drx.harts.program import Way
from rackwright.drx.kernel import Kernel, load_kernel
from rackwright.drx.result import KernelResult, run_kernel

HARTS = 16
"""Harts that run an operation at a time, as those of the text do."""


@dataclass(frozen=True)
class HartRow:
    """A kernel in the unit's model, on many harts by operation, and on one hart fused, in nanoseconds.

    `verified` is true if all three results are NumPy's; `digests` are those of the two runs on harts.
    """

    kernel: str
    lanes: int
    harts: int
    verified: bool
    unit_nanoseconds: float
    by_operation_nanoseconds: float
    fused_nanoseconds: float
    digests: tuple[str | None, ...]

    @property
    def over_by_operation(self) -> float:
        """The speed-up of the unit over all harts."""
        return self.by_operation_nanoseconds / self.unit_nanoseconds

    @property
    def over_fused(self) -> float:
        """The speed-up of the unit over one hart."""
        return self.fused_nanoseconds / self.unit_nanoseconds

    def record(self) -> dict[str, Any]:
        """The row in the format of the JSON output."""
        gains = {"over_by_operation": self.over_by_operation, "over_fused": self.over_fused}
        return {**asdict(self), "on": "boom", **gains}


def measure(kernels: Sequence[Path], lanes: Sequence[int], harts: int = HARTS) -> Iterator[HartRow]:
    """Runs each kernel over random inputs at each number of lanes; raises as `run_kernel`."""
    for path in kernels:
        kernel = load_kernel(path)
        inputs = random_inputs(kernel)
        many = run_kernel(kernel, inputs, "boom", harts=harts, way=Way.by_operation)
        one = run_kernel(kernel, inputs, "boom", way=Way.fused)
        for count in lanes:
            yield _row(kernel, inputs, count, harts, many, one)


def means(rows: Sequence[HartRow]) -> Mapping[str, float]:
    """Geometric means of the speed-ups over harts."""
    return {
        "over_by_operation": geometric_mean(row.over_by_operation for row in rows),
        "over_fused": geometric_mean(row.over_fused for row in rows),
    }


def _row(
    kernel: Kernel,
    inputs: list[np.ndarray[Any, Any]],
    lanes: int,
    harts: int,
    many: KernelResult,
    one: KernelResult,
) -> HartRow:
    unit = run_kernel(kernel, inputs, "model", {"lanes": lanes})
    assert unit.seconds is not None
    assert many.timed is not None
    assert one.timed is not None
    return HartRow(
        kernel.name,
        lanes,
        harts,
        unit.verified and many.verified and one.verified,
        1e9 * unit.seconds,
        many.timed.nanoseconds,
        one.timed.nanoseconds,
        (many.timed.digest, one.timed.digest),
    )
