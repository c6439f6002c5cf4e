"""Kernels of DRX that take elements together, and functions in steps, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from drx_random import Case, of
from test_drx_compiler import SMALL

from rackwright.drx import Configuration, compile_kernel, xp
from rackwright.drx.bounds import error_bound, is_within
from rackwright.drx.machine import run_model
from rackwright.errors import RackwrightError

Array = np.ndarray[Any, Any]
WIDE = Configuration(lanes=128)


def numbers(*shape: int) -> Array:
    return np.random.default_rng(5).standard_normal(shape, np.float32)


def bytes_of(*shape: int) -> Array:
    return np.random.default_rng(6).integers(0, 256, shape, np.uint8)


def output(case: Case, configuration: Configuration) -> Array:
    """What the model gives."""
    compiled = compile_kernel(case.kernel, configuration)
    data = [np.ascontiguousarray(array).tobytes() for array in case.inputs]
    ended = run_model(compiled.program, data, case.kernel.result.bytes, configuration)
    assert ended.status == "ok"
    result = case.kernel.result
    return np.frombuffer(ended.output, result.element.dtype).reshape(result.shape)


KERNELS: dict[str, tuple[Callable[..., Any], list[Array]]] = {
    "product": (lambda a, b: a @ b, [numbers(20, 30), numbers(30, 17)]),
    "product in parts": (lambda a, b: a @ b + 1, [numbers(100, 90), numbers(90, 40)]),
    "products": (lambda a, b: xp.matmul(a, b), [numbers(3, 8, 9), numbers(9, 7)]),
    "product of whole numbers": (
        lambda a, b: xp.astype(a, xp.int32) @ xp.astype(b, xp.int32),
        [bytes_of(40, 60), bytes_of(60, 24)],
    ),
    "sum of rows": (lambda a: xp.sum(a, axis=1), [numbers(200, 30)]),
    "sum of columns": (lambda a: xp.sum(a * a, axis=0), [numbers(200, 30)]),
    "sum of all": (lambda a: xp.sum(a), [numbers(20, 30)]),
    "sum in parts": (lambda a: xp.sum(a, axis=0, dtype=xp.int32), [bytes_of(3000, 10)]),
    "most": (lambda a: xp.max(a, axis=0) + 1, [numbers(200, 30)]),
    "least": (lambda a: xp.min(a * 2, axis=-1, keepdims=True) - a, [numbers(20, 30)]),
    "pooling": (lambda a: xp.max(xp.reshape(a, (32, 2, 30, 2)), axis=(1, 3)).T, [bytes_of(64, 60)]),
    "one element": (lambda a: xp.sum(a * 3, axis=1, dtype=xp.int32) >> 2, [bytes_of(30, 1)]),
    "product along one element": (lambda a, b: a @ b, [numbers(20, 1), numbers(1, 17)]),
    "share": (lambda a: a / xp.sum(a * a, axis=1, keepdims=True), [numbers(20, 30)]),
    "of what was taken together": (
        lambda a: xp.exp(a - xp.max(a, axis=-1, keepdims=True)) / 3.0,
        [numbers(20, 30)],
    ),
}


@pytest.mark.parametrize("configuration", [SMALL, WIDE], ids=["small", "wide"])
@pytest.mark.parametrize("name", KERNELS)
def test_taken_together(name: str, configuration: Configuration) -> None:
    case = of(*KERNELS[name])
    found, expected = output(case, configuration), case.kernel.host(case.inputs)
    bound = error_bound(case.kernel.trace(), expected)
    whole = expected.dtype.kind != "f" or name in ("most", "least")
    assert (bound == 0) == whole
    assert is_within(found, expected, bound)


def _patterns(seed: int) -> Array:
    """Numbers of all exponents, near 1, and those that are special."""
    source = np.random.default_rng(seed)
    special = [0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3.4e38, 0.99999994, 1.0000001, 1.2e-38]
    drawn = [
        source.integers(0, 2**32, 50_000, np.uint32).view(np.float32),
        source.uniform(-110, 95, 50_000).astype(np.float32),
        source.uniform(0.5, 2, 50_000).astype(np.float32),
        np.array(special, np.float32),
    ]
    mixed = np.concatenate(drawn)
    source.shuffle(mixed)
    return mixed


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "divide": lambda namespace, a, b: a / b,
    "sqrt": lambda namespace, a, b: namespace.sqrt(a),
    "exp": lambda namespace, a, b: namespace.exp(a),
    "log": lambda namespace, a, b: namespace.log(a),
    "log2": lambda namespace, a, b: namespace.log2(a),
    "log10": lambda namespace, a, b: namespace.log10(a),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_within_a_unit_in_the_last_place(name: str) -> None:
    """Beside numbers with at least eight bits more; special numbers are those of IEEE 754."""
    function, inputs = FUNCTIONS[name], [_patterns(1), _patterns(2)]
    case = of(lambda a, b: function(xp, a, b), inputs)
    with np.errstate(all="ignore"):
        found = output(case, WIDE).astype(np.longdouble)
        exact = function(np, *(each.astype(np.longdouble) for each in inputs))
        nearest = exact.astype(np.float32)
        place = np.spacing(np.abs(nearest)).astype(np.longdouble)
    finite = np.isfinite(nearest) & np.isfinite(found)
    assert np.array_equal(found[~finite], nearest[~finite], equal_nan=True)
    assert float(np.max(np.abs(found[finite] - exact[finite]) / place[finite])) <= 1


@pytest.mark.parametrize(
    ("function", "inputs", "complaint"),
    [
        (
            lambda a: xp.astype(xp.sum(a), xp.uint8),
            [bytes_of(4)],
            "sum of uint8: say in which type, dtype=xp.int32",
        ),
        (
            lambda a: a[0] @ a,
            [numbers(4, 4)],
            r"@ of shapes \(4,\) and \(4, 4\): the unit multiplies matrices",
        ),
        (
            lambda a: xp.astype(xp.exp(a), xp.uint8),
            [bytes_of(4)],
            r"exp of uint8: xp\.astype it to xp\.float32",
        ),
        (lambda a: xp.astype(a / a, xp.uint8), [bytes_of(4)], "division of uint8: xp.astype it to"),
    ],
)
def test_what_can_not_be_taken_together(function: Any, inputs: list[Array], complaint: str) -> None:
    case = of(function, inputs)
    with pytest.raises(RackwrightError, match=complaint):
        compile_kernel(case.kernel)
