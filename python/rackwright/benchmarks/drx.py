"""Kernels of DRX over their rooflines, by lanes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bootstrap.paths import REPOSITORY
from rackwright.drx.arrays import random_inputs
from rackwright.drx.kernel import Kernel, load_kernel
from rackwright.drx.program import read_program
from rackwright.drx.result import run_kernel
from rackwright.errors import RackwrightError
from rackwright.hardware.designs import ParameterValue

KERNELS = ("video", "sound", "brain", "redaction", "join", "entities")
"""The kernels of Wang 2025, table 3.1, in `examples/drx/`."""

LANES = (128,)


@dataclass(frozen=True)
class Row:
    """A kernel at a number of lanes.

    `bound` is the limit of the roofline: "memory", or "lanes". `by_hand` are the cycles of the program in
    assembly beside the kernel, where there is one. `wall_seconds` is the time of compiling and simulating;
    `compile_seconds` and `cycles_per_second`, the simulated cycles, are those of a processor of this machine.
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
    by_hand: int | None
    wall_seconds: float
    compile_seconds: float
    cycles_per_second: float

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

    A program in assembly beside it, which has the kernel's name, runs too. Raises `RackwrightError` as
    `run_kernel`, and when that program does not give what NumPy gives.
    """
    for path in kernels:
        kernel = load_kernel(path)
        inputs = random_inputs(kernel)
        for count in lanes:
            began = time.monotonic()
            result = run_kernel(kernel, inputs, on, {"lanes": count})
            by_hand = _by_hand(path, kernel, inputs, on, {"lanes": count})
            ended, roofline = result.ended, result.roofline
            assert ended is not None
            assert roofline is not None
            assert result.compile_seconds is not None
            assert result.run_seconds is not None
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
                by_hand,
                time.monotonic() - began,
                result.compile_seconds,
                ended.cycles / result.run_seconds,
            )


def _by_hand(
    path: Path,
    kernel: Kernel,
    inputs: list[np.ndarray[Any, Any]],
    on: str,
    parameters: Mapping[str, ParameterValue],
) -> int | None:
    """Cycles of the program that stands beside a kernel; None without one."""
    assembly = path.with_suffix(".s")
    if not assembly.exists():
        return None
    result = run_kernel(kernel, inputs, on, parameters, program=read_program(assembly))
    if not result.verified or result.ended is None:
        raise RackwrightError(f"{assembly}: ends with {result.status}, and not with what NumPy gives")
    return result.ended.cycles
