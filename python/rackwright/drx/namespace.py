"""`xp`, the namespace of the Array API standard that kernels are written in.

With NumPy arrays its functions are NumPy's, so that a kernel runs anywhere; with symbolic arrays they are
recorded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from rackwright.drx.array import (
    Array,
    at_most,
    binary,
    cast,
    compare,
    concatenated,
    product,
    reduced,
    select,
)
from rackwright.drx.element import element_of
from rackwright.drx.functions import divide, exp, log, sqrt
from rackwright.drx.views import broadcast, flipped, indexed, permuted, reshaped
from rackwright.errors import RackwrightError


def _concat(arrays: Any, *, axis: int = 0) -> Array:
    found = list(arrays)
    return concatenated(found, axis % found[0].ndim)


def _clip(array: Array, least: Any = None, most: Any = None) -> Array:
    if least is not None:
        array = binary("maximum", array, least)
    return array if most is None else binary("minimum", array, most)


def _flip(array: Array, *, axis: int | tuple[int, ...] | None = None) -> Array:
    axes = range(array.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    return Array(flipped(array.expression, tuple(axes)))


def _expand_dims(array: Array, *, axis: int = 0) -> Array:
    place = axis % (array.ndim + 1)
    return Array(indexed(array.expression, (*[slice(None)] * place, None, ...)))


def _squeeze(array: Array, axis: int | tuple[int, ...]) -> Array:
    axes = {each % array.ndim for each in ((axis,) if isinstance(axis, int) else axis)}
    if any(array.shape[each] != 1 for each in axes):
        raise RackwrightError(f"squeeze: of shape {array.shape}, only axes of one element can go")
    return array[tuple(0 if each in axes else slice(None) for each in range(array.ndim))]


def _moved(array: Array, source: int, destination: int) -> Array:
    order = [axis for axis in range(array.ndim) if axis != source % array.ndim]
    order.insert(destination % array.ndim, source % array.ndim)
    return Array(permuted(array.expression, tuple(order)))


def _sum(array: Array, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Array:
    if dtype is None and not array.expression.element.float:
        raise RackwrightError(f"sum of {array.dtype.name}: say in which type, dtype=xp.int32")
    if dtype is not None:
        array = cast(array, element_of(dtype))
    return reduced("add", array, axis, keepdims=keepdims)


def _most(function: str) -> Callable[..., Array]:
    def of(array: Array, *, axis: Any = None, keepdims: bool = False) -> Array:
        return reduced(function, array, axis, keepdims=keepdims)

    return of


def _named(function: str) -> Callable[[Any, Any], Array]:
    return lambda first, second: binary(function, first, second)


TRACED: dict[str, Callable[..., Array]] = {
    "add": _named("add"),
    "subtract": _named("subtract"),
    "multiply": _named("multiply"),
    "minimum": _named("minimum"),
    "maximum": _named("maximum"),
    "bitwise_and": _named("and"),
    "bitwise_or": _named("or"),
    "bitwise_xor": _named("xor"),
    "logical_and": _named("and"),
    "logical_or": _named("or"),
    "logical_xor": _named("xor"),
    "bitwise_left_shift": _named("shift_left"),
    "bitwise_right_shift": _named("shift_right"),
    "floor_divide": lambda array, by: array // by,
    "remainder": lambda array, by: array % by,
    "bitwise_invert": lambda array: ~array,
    "logical_not": lambda array: ~array,
    "negative": lambda array: -array,
    "positive": lambda array: array,
    "square": lambda array: array * array,
    "sum": _sum,
    "max": _most("maximum"),
    "min": _most("minimum"),
    "matmul": product,
    "divide": divide,
    "sqrt": sqrt,
    "exp": exp,
    "log": lambda array: log(array, math.e),
    "log2": lambda array: log(array, 2),
    "log10": lambda array: log(array, 10),
    "abs": lambda array: binary("maximum", array, -array),
    "less": lambda first, second: compare("less", first, second),
    "greater": lambda first, second: compare("less", second, first),
    "less_equal": at_most,
    "greater_equal": lambda first, second: at_most(second, first),
    "equal": lambda first, second: compare("equal", first, second),
    "not_equal": lambda first, second: ~compare("equal", first, second),
    "where": select,
    "clip": _clip,
    "concat": _concat,
    "astype": lambda array, dtype: cast(array, element_of(dtype)),
    "broadcast_to": lambda array, shape: Array(broadcast(array.expression, tuple(shape))),
    "permute_dims": lambda array, axes: Array(permuted(array.expression, tuple(axes))),
    "matrix_transpose": lambda array: _moved(array, -1, -2),
    "moveaxis": _moved,
    "reshape": lambda array, shape: Array(
        reshaped(array.expression, (shape,) if isinstance(shape, int) else tuple(shape))
    ),
    "expand_dims": _expand_dims,
    "squeeze": _squeeze,
    "flip": _flip,
}
"""The supported functions, by the names of the standard."""


def _arrays(value: Any) -> bool:
    return isinstance(value, Array) or (isinstance(value, list | tuple) and any(map(_arrays, value)))


class Namespace:
    """The functions and types of the standard."""

    def __getattr__(self, name: str) -> Any:
        own = getattr(np, name)
        if isinstance(own, type) or not callable(own):
            return own

        def call(*arguments: Any, **options: Any) -> Any:
            if not any(map(_arrays, (*arguments, *options.values()))):
                return own(*arguments, **options)
            if name not in TRACED:
                raise RackwrightError(
                    f"xp.{name} is not something that the unit does; there are {', '.join(sorted(TRACED))}"
                )
            return TRACED[name](*arguments, **options)

        return call


xp = Namespace()
