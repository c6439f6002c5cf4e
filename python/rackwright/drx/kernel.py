"""Kernels: Python functions over arrays, with the types of inputs and outputs."""

from __future__ import annotations

import inspect
import runpy
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rackwright.drx.array import Array
from rackwright.drx.element import ArrayType, i64
from rackwright.drx.expression import Expression, Leaf
from rackwright.errors import RackwrightError


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Elements from one to the next along each axis, of an array whose last axis is contiguous."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


@dataclass(frozen=True)
class Kernel:
    """A function of arrays, created by `@kernel`. Called with arrays of NumPy, it computes with NumPy."""

    function: Callable[..., Any]

    def __call__(self, *arrays: Any) -> Any:
        """The result of the function for NumPy arrays."""
        return self.function(*arrays)

    @property
    def name(self) -> str:
        """That of the function."""
        return self.function.__name__

    @cached_property
    def _annotations(self) -> dict[str, Any]:
        found = inspect.get_annotations(self.function, eval_str=True)
        wanted = [*inspect.signature(self.function).parameters, "return"]
        for name in wanted:
            if not isinstance(found.get(name), ArrayType):
                raise RackwrightError(f"{self.name}: {name} has no type of an array, like u8[4, 8]")
        return {name: found[name] for name in wanted}

    @property
    def parameters(self) -> dict[str, ArrayType]:
        """Types of the inputs by their names, in their order."""
        return {name: kind for name, kind in self._annotations.items() if name != "return"}

    @property
    def result(self) -> ArrayType:
        """The type of the result."""
        found: ArrayType = self._annotations["return"]
        return found

    def trace(self) -> Expression:
        """The kernel's computation; raises `RackwrightError` with the line of an unsupported expression."""
        inputs = [
            Array(Leaf(kind.element, kind.shape, place, 0, row_major(kind.shape)))
            for place, kind in enumerate(self.parameters.values())
        ]
        try:
            found = self.function(*inputs)
        except RackwrightError as error:
            raise RackwrightError(f"{self._line(error)}: {error}") from error
        if not isinstance(found, Array):
            raise RackwrightError(
                f"{self.name}: returns {type(found).__name__}, not an array made of its inputs"
            )
        own = ArrayType(found.expression.element, found.shape)
        if own != self.result:
            raise RackwrightError(f"{self.name}: returns {own}, but is declared to return {self.result}")
        if found.expression.element is i64:
            raise RackwrightError(f"{self.name}: gives back i64, which the unit does not compute")
        return found.expression

    def _line(self, error: Exception) -> str:
        code = self.function.__code__
        lines = [
            frame.lineno
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename == code.co_filename
        ]
        return f"{code.co_filename}:{lines[-1] if lines else code.co_firstlineno}"

    def host(self, inputs: list[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
        """NumPy's result; raises `RackwrightError` for inputs of other types or shapes than the kernel's."""
        for (name, kind), array in zip(self.parameters.items(), inputs, strict=True):
            if array.shape != kind.shape or array.dtype != kind.element.dtype:
                raise RackwrightError(
                    f"{name} is {array.dtype.name}{list(array.shape)}, and the kernel's is {kind}"
                )
        with np.errstate(all="ignore"):
            return np.asarray(self.function(*inputs), order="C")


def kernel(function: Callable[..., Any]) -> Kernel:
    """Makes a kernel of a function whose parameters and result have types of arrays."""
    return Kernel(function)


def load_kernel(path: Path) -> Kernel:
    """The kernel of a file; raises `RackwrightError` that names the file when it has not just one."""
    if not path.is_file():
        raise RackwrightError(f"{path}: no such file")
    try:
        names = runpy.run_path(str(path))
    except RackwrightError as error:
        raise RackwrightError(f"{path}: {error}") from error
    except Exception as error:
        raise RackwrightError(f"{path}: {type(error).__name__}: {error}") from error
    found = [value for value in names.values() if isinstance(value, Kernel)]
    if len(found) != 1:
        raise RackwrightError(f"{path}: has {len(found)} kernels, and one is compiled")
    return found[0]
