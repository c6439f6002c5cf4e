"""Kernels of DRX over their rooflines, by lanes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bootstrap.paths import REPOSITORY
from rackwright.drx.arrays import random_inputs
from rackwright.drx.kernel import load_kernel
from rackwright.drx.result import run_kernel

KERNELS = ("video", "sound", "brain", "redaction", "join", "entities")
"""The kernels of Wang 2025, table 3.1, in `examples/drx/`."""

LANES = (128,)


@dataclass(frozen=True)
class Row:
    """A kernel at a number of lanes.

    `bound` is the limit of the roofline: "memory", or "lanes". `wall_seconds` is the time of compiling and
    simulating it.
    """

    kernel: str
    lanes: int
    on: str
    verified: bool
    cycles: int
    roofline: int
    bound: str
    bytes_per_second: float
    stalls: dict[str, int]
    digest: str
    wall_seconds: float

    @property
    def of_roofline(self) -> float:
        """The roofline as a fraction of the kernel's cycles."""
        return self.roofline / self.cycles

    def record(self) -> dict[str, Any]:
        """The row in the format of the JSON output."""
        return {**asdict(self), "of_roofline": self.of_roofline}


def examples(names: Sequence[str] = KERNELS) -> list[Path]:
    """Files of the kernels with these names."""
    return [REPOSITORY / "examples" / "drx" / f"{name}.py" for name in names]


def measure(kernels: Sequence[Path], lanes: Sequence[int] = LANES, on: str = "model") -> Iterator[Row]:
    """Runs each kernel over random inputs at each number of lanes, on "model" or "rtl".

    Raises `RackwrightError` as `run_kernel`.
    """
    for path in kernels:
        kernel = load_kernel(path)
        inputs = random_inputs(kernel)
        for count in lanes:
            began = time.monotonic()
            result = run_kernel(kernel, inputs, on, {"lanes": count})
            ended, roofline = result.ended, result.roofline
            assert ended is not None
            assert roofline is not None
            yield Row(
                kernel.name,
                count,
                on,
                result.verified,
                ended.cycles,
                roofline.cycles,
                roofline.bound,
                result.bytes * ended.clock_hz / ended.cycles,
                dict(ended.stalls),
                ended.digest,
                time.monotonic() - began,
            )
