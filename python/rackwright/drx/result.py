"""A kernel, run and compared with NumPy."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rackwright.drx.bounds import error_bound, is_within
from rackwright.drx.compiler import compile_kernel
from rackwright.drx.configuration import Configuration
from rackwright.drx.harts.program import Way
from rackwright.drx.harts.run import Timed, run_on_harts, run_on_host
from rackwright.drx.kernel import Kernel
from rackwright.drx.machine import LIMIT, DrxUnit, Ended
from rackwright.drx.program import Program
from rackwright.drx.roofline import Roofline, roofline_of
from rackwright.errors import RackwrightError
from rackwright.hardware.designs import ParameterValue

UNITS = ("rtl", "model")
HARTS = ("boom", "host")
PLACES = (*UNITS, *HARTS)
"""The target of a kernel: the unit or its model, or as a C program simulated harts or this machine."""


@dataclass(frozen=True)
class KernelResult:
    """The output of a kernel, and whether it is within `error_bound` of NumPy's.

    `bytes` are those of the inputs and of the result; `roofline` is the lower bound of cycles for them.
    `ended` is for the unit, `timed` for harts; `compile_seconds` and `run_seconds` are those of a processor
    of this machine, for the unit as well.
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
    timed: Timed | None = None
    compile_seconds: float | None = None
    run_seconds: float | None = None

    @property
    def status(self) -> str:
        """The status of the program; `ok` on harts."""
        return "ok" if self.ended is None else self.ended.status

    @property
    def bytes_per_second(self) -> float | None:
        """Bytes over the time of the kernel; None if its program has failed."""
        seconds = self.seconds
        return None if seconds is None or self.status != "ok" else self.bytes / seconds

    @property
    def seconds(self) -> float | None:
        """The time of the kernel: simulated, but for this machine's."""
        if self.timed is not None:
            return self.timed.nanoseconds / 1e9
        return None if self.ended is None else self.ended.cycles / self.ended.clock_hz

    @property
    def of_roofline(self) -> float | None:
        """The roofline as a fraction of the unit's cycles; None on harts, and if the program has failed."""
        if self.roofline is None or self.ended is None or self.status != "ok":
            return None
        return self.roofline.cycles / self.ended.cycles

    def record(self) -> dict[str, Any]:
        """The result in the format of the JSON output."""
        ended, timed = self.ended, self.timed
        cycles = ended or timed
        return {
            "kernel": self.kernel,
            "on": self.on,
            "verified": self.verified,
            "error_bound": self.error_bound,
            "status": self.status,
            "index": None if ended is None else ended.index,
            "bytes": self.bytes,
            "instructions": self.instructions,
            "cycles": None if cycles is None else cycles.cycles,
            "obeyed": None if ended is None else ended.instructions,
            "stalls": None if ended is None else ended.stalls,
            "clock_hz": None if cycles is None else cycles.clock_hz,
            "clock_source": None if ended is None else ended.clock_source,
            "seconds": self.seconds,
            "bytes_per_second": self.bytes_per_second,
            "roofline": None if self.roofline is None else self.roofline.cycles,
            "bound": None if self.roofline is None else self.roofline.bound,
            "of_roofline": self.of_roofline,
            "harts": None if timed is None else timed.harts,
            "code": None if timed is None else timed.way.value,
            "vectors": None if timed is None else timed.vectors,
            "digest": None if cycles is None else cycles.digest,
        }


def run_kernel(
    kernel: Kernel,
    inputs: Sequence[np.ndarray[Any, Any]],
    on: str = "model",
    parameters: Mapping[str, ParameterValue] | None = None,
    *,
    harts: int = 1,
    way: Way = Way.fused,
    program: Program | None = None,
    limit: int = LIMIT,
) -> KernelResult:
    """Runs a kernel over its inputs, and compares the result with NumPy's.

    `parameters` are those of the unit, which runs `program` if there is one in the place of what the compiler
    makes, and stops it after `limit` cycles; `harts` and `way` are those of a program for harts. Raises
    `RackwrightError` for a kernel that can't be compiled, and for inputs that are not the kernel's.
    """
    if on not in PLACES:
        raise RackwrightError(f"--on {on}: one of {', '.join(PLACES)}")
    if len(inputs) != len(kernel.parameters):
        raise RackwrightError(
            f"{kernel.name}: has {len(kernel.parameters)} inputs, and {len(inputs)} are given"
        )
    expected = kernel.host(list(inputs))
    total = sum(array.nbytes for array in inputs) + kernel.result.bytes
    data = [np.ascontiguousarray(array).tobytes() for array in inputs]
    if on in HARTS:
        timed = (run_on_harts if on == "boom" else run_on_host)(kernel, data, way, harts)
        output = _array(kernel, timed.output)
        bound = error_bound(kernel.trace(), expected)
        verified = _is_same_kind(output, expected) and is_within(output, expected, bound)
        return KernelResult(kernel.name, on, output, verified, total, bound, timed=timed)
    began = time.process_time()
    compiled = compile_kernel(kernel, Configuration.of(parameters or {}))
    compile_seconds = time.process_time() - began
    size = kernel.result.bytes
    unit = DrxUnit(parameters, model=on == "model")
    program = program or compiled.program
    began = time.process_time()
    ended = unit.run(program, data, size, limit)
    run_seconds = time.process_time() - began
    output = _array(kernel, ended.output)
    bound = error_bound(compiled.expression, expected)
    same = _is_same_kind(output, expected) and is_within(output, expected, bound)
    verified = ended.status == "ok" and same
    least = roofline_of(compiled.nests, total, compiled.configuration.lanes, ended.clock_hz)
    length = len(program.instructions)
    return KernelResult(
        kernel.name,
        on,
        output,
        verified,
        total,
        bound,
        length,
        least,
        ended,
        compile_seconds=compile_seconds,
        run_seconds=run_seconds,
    )


def _array(kernel: Kernel, data: bytes) -> np.ndarray[Any, Any]:
    """The result of a kernel, of its bytes."""
    return np.frombuffer(data, kernel.result.element.dtype).reshape(kernel.result.shape)


def _is_same_kind(output: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> bool:
    return bool(expected.dtype == output.dtype and expected.shape == output.shape)
