"""From a kernel to a program of the unit."""

from __future__ import annotations

from dataclasses import dataclass

from rackwright.drx.choice import tiled
from rackwright.drx.code import code_of
from rackwright.drx.configuration import Configuration
from rackwright.drx.expression import Expression, in_steps
from rackwright.drx.isa import isa
from rackwright.drx.kernel import Kernel
from rackwright.drx.nest import Nest, nests_of
from rackwright.drx.program import Program
from rackwright.drx.tiling import Tiling
from rackwright.errors import RackwrightError


@dataclass(frozen=True)
class Compiled:
    """A program, and the intermediate forms of its compilation."""

    kernel: Kernel
    expression: Expression
    configuration: Configuration
    nests: list[Nest]
    tilings: list[Tiling]
    program: Program

    @property
    def ir(self) -> str:
        """The typed loop nests, as text."""
        return "\n".join(map(str, self.nests))

    @property
    def schedule(self) -> str:
        """Tiles and buffers, as text."""
        return "\n".join(map(str, self.tilings))


def compile_kernel(kernel: Kernel, configuration: Configuration | None = None) -> Compiled:
    """Compiles a kernel for a unit, by default the one that is built by default.

    Raises `RackwrightError` with the unsupported expression and its line.
    """
    configuration = configuration or Configuration()
    most = isa().regions - 1
    if len(kernel.parameters) > most:
        raise RackwrightError(
            f"{kernel.name}: has {len(kernel.parameters)} inputs, and a program at most {most}"
        )
    expression = in_steps(kernel.trace())
    nests = nests_of(expression)
    tilings = [tiled(nest, configuration) for nest in nests]
    return Compiled(kernel, expression, configuration, nests, tilings, code_of(tilings, configuration))
