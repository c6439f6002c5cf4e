"""A kernel, run and compared with NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rackwright.designs import ParameterValue
from rackwright.drx.bounds import error_bound, is_within
from rackwright.drx.compiler import compile_kernel
from rackwright.drx.configuration import Configuration
from rackwright.drx.kernel import Kernel
from rackwright.drx.machine import DrxUnit, Ended
from rackwright.drx.roofline import Roofline, roofline_of
from rackwright.errors import RackwrightError

PLACES = ("rtl", "model", "host")
"""Where a kernel runs: the unit, its model, or NumPy on this machine."""


@dataclass(frozen=True)
class KernelResult:
    """What a kernel gave, and whether NumPy gives the same, or what is `error_bound` from it at most.

    `bytes` are those of the inputs and of the result; `roofline` are the least cycles for them; `ended` is
    None on the host.
    """

    kernel: str
    on: str
    output: np.ndarray[Any, Any]
    verified: bool
    bytes: int
    error_bound: float = 0.0
    instructions: int | None = None
    roofline: Roofline | None = None
    ended: Ended | None = None

    @property
    def status(self) -> str:
        """How the program ended; `ok` on the host."""
        return "ok" if self.ended is None else self.ended.status

    @property
    def bytes_per_second(self) -> float | None:
        """Bytes over the time of the unit; None on the host."""
        ended = self.ended
        return None if ended is None else self.bytes * ended.clock_hz / ended.cycles

    @property
    def of_roofline(self) -> float | None:
        """The part of the unit's cycles that the kernel needs at least; None on the host."""
        if self.roofline is None or self.ended is None:
            return None
        return self.roofline.cycles / self.ended.cycles

    def record(self) -> dict[str, Any]:
        """As JSON has it."""
        ended = self.ended
        return {
            "kernel": self.kernel,
            "on": self.on,
            "verified": self.verified,
            "error_bound": self.error_bound,
            "status": self.status,
            "index": None if ended is None else ended.index,
            "bytes": self.bytes,
            "instructions": self.instructions,
            "cycles": None if ended is None else ended.cycles,
            "obeyed": None if ended is None else ended.instructions,
            "stalls": None if ended is None else ended.stalls,
            "clock_hz": None if ended is None else ended.clock_hz,
            "clock_source": None if ended is None else ended.clock_source,
            "bytes_per_second": self.bytes_per_second,
            "roofline": None if self.roofline is None else self.roofline.cycles,
            "bound": None if self.roofline is None else self.roofline.bound,
            "of_roofline": self.of_roofline,
            "digest": None if ended is None else ended.digest,
        }


def run_kernel(
    kernel: Kernel,
    inputs: Sequence[np.ndarray[Any, Any]],
    on: str = "model",
    parameters: Mapping[str, ParameterValue] | None = None,
) -> KernelResult:
    """Runs a kernel over its inputs, and compares the result with NumPy's.

    `parameters` are those of the unit. Raises `RackwrightError` for a kernel that can't be compiled, and for
    inputs that are not the kernel's.
    """
    if on not in PLACES:
        raise RackwrightError(f"--on {on}: one of {', '.join(PLACES)}")
    if len(inputs) != len(kernel.parameters):
        raise RackwrightError(
            f"{kernel.name}: has {len(kernel.parameters)} inputs, and {len(inputs)} are given"
        )
    expected = kernel.host(list(inputs))
    total = sum(array.nbytes for array in inputs) + kernel.result.bytes
    if on == "host":
        return KernelResult(kernel.name, on, expected, verified=True, bytes=total)
    compiled = compile_kernel(kernel, Configuration.of(parameters or {}))
    data = [np.ascontiguousarray(array).tobytes() for array in inputs]
    size = kernel.result.bytes
    unit = DrxUnit(parameters, model=on == "model")
    ended = unit.run(compiled.program, data, size)
    output = np.frombuffer(ended.output, kernel.result.element.dtype).reshape(kernel.result.shape)
    same = expected.dtype == output.dtype and expected.shape == output.shape
    bound = error_bound(compiled.expression, expected)
    verified = ended.status == "ok" and same and is_within(output, expected, bound)
    least = roofline_of(compiled.nests, total, compiled.configuration.lanes, ended.clock_hz)
    length = len(compiled.program.instructions)
    return KernelResult(kernel.name, on, output, verified, total, bound, length, least, ended)
