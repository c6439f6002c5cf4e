"""Arrays in files of NumPy, and random ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from rackwright.drx.kernel import Kernel
from rackwright.errors import RackwrightError

_SEED = 1


def read_array(path: Path) -> np.ndarray[Any, Any]:
    """The array of a file; raises `RackwrightError` that names it when there is none."""
    try:
        found = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        reason = getattr(error, "strerror", None) or "is no file of an array of NumPy"
        raise RackwrightError(f"{path}: {reason}") from error
    if not isinstance(found, np.ndarray):
        raise RackwrightError(f"{path}: holds several arrays, and one is read")
    return found


def write_array(path: Path, array: np.ndarray[Any, Any]) -> None:
    """Writes an array; raises `RackwrightError` that names the file when that can't be."""
    try:
        with open(path, "wb") as file:
            np.save(file, array)
    except OSError as error:
        raise RackwrightError(f"{path}: {error.strerror}") from error


def random_inputs(kernel: Kernel) -> list[np.ndarray[Any, Any]]:
    """Inputs of a kernel, the same ones each time: uniformly distributed integers of their types.

    Inputs of `f32` have the normal distribution.
    """
    source = np.random.default_rng(_SEED)

    def random(dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        if dtype.kind == "b":
            return source.integers(0, 2, shape).astype(dtype)
        if dtype.kind == "f":
            return source.standard_normal(shape, np.float32)
        limits = np.iinfo(dtype)
        return source.integers(limits.min, limits.max, shape, dtype, endpoint=True)

    return [random(kind.element.dtype, kind.shape) for kind in kernel.parameters.values()]
