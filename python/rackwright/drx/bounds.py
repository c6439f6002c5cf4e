"""The allowed difference of a result from NumPy's: sums have another order, and functions other last bits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rackwright.drx.expression import Apply, Bits, Cast, Concat, Expression, Named, Reduce

_FUNCTION = 8
"""Roundings of a function in steps, ours and NumPy's."""


def roundings(expression: Expression) -> int:
    """The number of roundings of a result that differ from NumPy's; 0 for a bit-exact one."""
    done: dict[int, int] = {}

    def visit(node: Expression) -> int:
        if id(node) not in done:
            done[id(node)] = own(node) + max(map(visit, _parts(node)), default=0)
        return done[id(node)]

    def own(node: Expression) -> int:
        if isinstance(node, Bits):
            return _FUNCTION
        if isinstance(node, Reduce) and node.function == "add" and node.element.float:
            return 2 * math.prod(node.source.shape[len(node.shape) :])
        return 0

    return visit(expression)


def _parts(node: Expression) -> tuple[Expression, ...]:
    if isinstance(node, Apply):
        return node.arguments
    if isinstance(node, Cast | Bits | Reduce):
        return (node.source,)
    if isinstance(node, Named):
        return (node.steps,)
    return node.parts if isinstance(node, Concat) else ()


def error_bound(expression: Expression, expected: np.ndarray[Any, Any]) -> float:
    """The largest accepted difference: 0, or half a unit in the last place for each rounding.

    The place is that of the largest number of the result. Integers computed from such results may differ by
    one.
    """
    count = roundings(expression)
    if not count:
        return 0.0
    if expected.dtype.kind != "f":
        return 1.0
    finite = np.abs(expected[np.isfinite(expected)])
    return count * 2.0**-24 * float(finite.max(initial=0.0))


def is_within(output: np.ndarray[Any, Any], expected: np.ndarray[Any, Any], bound: float) -> bool:
    """Every number is within the bound of the expected one, or equal."""
    if not bound:
        return bool(np.array_equal(output, expected, equal_nan=output.dtype.kind == "f"))
    near = np.isclose(output.astype(float), expected.astype(float), rtol=0, atol=bound, equal_nan=True)
    return bool(near.all())
