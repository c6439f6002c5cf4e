"""What `drx` is explored with: kernels of examples/drx over random inputs, compared with NumPy."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from rackwright import Unit
from rackwright.drx import Configuration, compile_kernel, load_kernel
from rackwright.drx.arrays import random_inputs
from rackwright.drx.configuration import model_of
from rackwright.exploration import UnitWorkload
from rackwright.unit.commands import operate

KERNELS = ("scale", "video", "entities")


class Restructuring(UnitWorkload):
    """A call for each kernel, in the exact model of the unit, from its own memory and back."""

    inputs = tuple(f"../drx/{name}.py" for name in KERNELS)
    own_memory = True

    def __init__(self) -> None:
        self.kernels = [load_kernel(Path(__file__).parent / path) for path in self.inputs]

    def sizes(self) -> Sequence[int]:
        """Bytes of the inputs and of the result."""
        return [
            sum(kind.bytes for kind in kernel.parameters.values()) + kernel.result.bytes
            for kernel in self.kernels
        ]

    def model(self, parameters: Mapping[str, int | str]):
        """That of the unit with so many lanes."""
        return model_of(parameters)

    def run(self, unit: Unit, call: int, settings: Mapping[str, int | str]) -> bool:
        """Compiles a kernel for the unit and runs it."""
        kernel, arrays = self.kernels[call], random_inputs(self.kernels[call])
        known = {name: unit.design.parameters[name] for name in ("lanes", "banks", "scratchpad-kib")}
        program = compile_kernel(kernel, Configuration.of(known)).program
        code, target = unit.load(program.to_bytes()), unit.reserve(kernel.result.bytes)
        for number, array in enumerate(arrays, 1):
            buffer = unit.load(np.ascontiguousarray(array).tobytes())
            unit.command(f"input{number}_address", buffer.address)
            unit.command(f"input{number}_bytes", buffer.length)
        ended = operate(unit, code, target)
        return ended.status == "ok" and unit.read(target) == kernel.host(arrays).tobytes()
