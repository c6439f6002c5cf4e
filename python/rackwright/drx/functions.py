"""Division, square root, exponential and logarithms of binary32, as steps of sums and products.

Each starts with a number whose bits are close, and converges by steps that are rounded once (`fused`). Errors
are below one unit in the last place; subnormal and special numbers follow IEEE 754.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rackwright.drx.apply import applied
from rackwright.drx.array import Array, binary, bits, cast, common, expressions, fused, select
from rackwright.drx.element import f32, i32
from rackwright.drx.expression import Constant, Expression, Named
from rackwright.errors import RackwrightError

_SMALLEST = 2.0**-126
_BIAS = 127
_FRACTION = 0x007F_FFFF

_ROOT_OF_HALF, _ONE = 0x3F35_04F3, 0x3F80_0000
"""The bits of numbers."""

_LOGARITHM = (
    0.07147885859012604,
    -0.11570707708597183,
    0.11661902815103531,
    -0.12411130219697952,
    0.14249908924102783,
    -0.16668476164340973,
    0.20000708103179932,
    -0.24999989569187164,
    0.3333333134651184,
)
"""P of log(1 + f) = f - f^2 / 2 + f^3 P(f), fitted at 400 Chebyshev nodes from
sqrt(1/2) - 1 to sqrt(2) - 1."""

_LOGARITHMS = {math.e: "log", 2: "log2", 10: "log10"}
"""Names by their bases."""

_EXPONENTIAL = (
    0.00019826478135722068,
    0.001394607759509725,
    0.008333430174410086,
    0.04166626949812577,
    0.16666666162357366,
    0.5000000078362479,
)
"""P of exp(f) = 1 + f + f^2 P(f), fitted at 400 Chebyshev nodes from -log(2) / 2 to log(2) / 2, where the
errors of results are weighed."""

_LN2_UPPER = 0.693145751953125
"""The upper 16 bits of the natural logarithm of 2, whose products with exponents are exact."""


def _single(name: str, array: Any) -> Array:
    if not isinstance(array, Array) or not array.expression.element.float:
        kind = array.dtype.name if isinstance(array, Array) else repr(array)
        raise RackwrightError(f"{name} of {kind}: xp.astype it to xp.float32 first")
    return array


def _number(value: float, like: Array) -> Array:
    """A number of binary32 in the shape of an array."""
    return Array(Constant(f32, like.shape, float(np.float32(value))))


def _split(value: float) -> tuple[float, float]:
    """A number as that of binary32, and the rest."""
    upper = float(np.float32(value))
    return upper, value - upper


def _polynomial(at: Array, coefficients: Sequence[float]) -> Array:
    """That of the coefficients, the one of the highest power first."""
    first, second, *others = coefficients
    found = fused(at, first, second)
    for each in others:
        found = fused(found, at, each)
    return found


def _power(exponent: Array) -> Array:
    """2 to the power of numbers of `i32` from -126 to 127."""
    return bits((exponent + _BIAS) << 23, f32)


def _scaled(array: Array, exponent: Array) -> Array:
    """The array times 2 to the power of numbers from -252 to 254; only a subnormal result is rounded."""
    half = exponent >> 1
    return array * _power(half) * _power(exponent - half)


def _parts(magnitude: Array) -> tuple[Array, Array]:
    """The mantissa and the exponent of a number that is neither 0 nor special.

    The mantissa of one below 1 is from 1/2 to 1, so that its inverse is not below 1; others are from 1 to 2.
    """
    subnormal, below_one = magnitude < _SMALLEST, cast(magnitude < 1.0, i32)
    number = bits(select(subnormal, magnitude * 2.0**24, magnitude), i32)
    exponent = (number >> 23) - cast(subnormal, i32) * 24 + below_one - _BIAS
    return bits((number & _FRACTION) | (_ONE - (below_one << 23)), f32), exponent


def _named(name: str, steps: Callable[..., Array], *arguments: Array) -> Array:
    """A function of arrays of one shape, done in steps."""

    def make(parts: Sequence[Expression]) -> Expression:
        found = steps(*map(Array, parts)).expression
        return Named(f32, found.shape, name, tuple(parts), found)

    return Array(applied([each.expression for each in arguments], make))


def divide(first: Any, second: Any) -> Array:
    """The quotient. Integers have none."""
    arrays = [each for each in (first, second) if isinstance(each, Array)]
    if not any(each.expression.element.float for each in arrays):
        _single("division", arrays[0])
    if isinstance(second, int | float) and second and abs(math.frexp(second)[0]) == 0.5:
        return binary("multiply", first, 1 / second)
    parts = expressions(first, second)
    common(parts)
    return _named("divide", _quotient, *(cast(Array(each), f32) for each in parts))


def _quotient(first: Array, second: Array) -> Array:
    """The dividend times the inverse of the divisor's mantissa, in two numbers, and a power of two.

    All but four steps depend on the divisor alone, and are done once where it is common to many dividends. A
    power above 1 comes first, so that small dividends keep all their bits, and one below 1 last, so that
    large quotients are in range before.
    """
    sign = bits(second, i32) & -(2**31)
    below = bits(bits(second, i32) & 0x7FFF_FFFF, f32)
    mantissa, exponent = _parts(below)
    upper, lower = _inverse(mantissa)
    # Powers that are not normal numbers are those of two steps.
    early = binary("minimum", binary("maximum", -exponent, 0), 127) + binary("minimum", 126 - exponent, 0)
    late = _power(-exponent - early)
    # Quotients by 0, infinity and NaN are products with infinity, 0 and NaN.
    other = select(below == math.inf, _number(0.0, below), below)
    other = select(below < math.inf, late, other)
    late = select(below == 0.0, _number(math.inf, below), other)
    scaled = first * bits(bits(_power(early), i32) | sign, f32)
    return fused(scaled, upper, scaled * lower) * late


def _inverse(mantissa: Array) -> tuple[Array, Array]:
    """The inverse of a number from 1/2 to 2, rounded down, and what is missing.

    This is positive, so that infinity times the one, plus infinity times the other, is infinity.
    """
    inverse = bits(0x7EF3_11C7 - bits(mantissa, i32), f32)
    for _ in range(3):
        inverse = fused(inverse, fused(-mantissa, inverse, 1.0), inverse)
    above = fused(-mantissa, inverse, 1.0) < 0.0
    upper = bits(bits(inverse, i32) - cast(above, i32), f32)
    missing = upper * fused(-mantissa, upper, 1.0)
    return upper, binary("maximum", missing, 2.0**-60)


def sqrt(array: Any) -> Array:
    """The square root."""
    return _named("sqrt", _root, _single("sqrt", array))


def _root(array: Array) -> Array:
    small = array < 2.0**-100
    number = select(small, array * 2.0**48, array)
    inverse = bits(0x5F37_59DF - (bits(number, i32) >> 1), f32)
    half = number * 0.5
    for _ in range(3):
        inverse = inverse * fused(-(half * inverse), inverse, 1.5)
    root = number * inverse
    root = fused(fused(-root, root, number), inverse * 0.5, root)
    root = select(small, root * 2.0**-24, root)
    # 0 of either sign and infinity are returned unchanged; negative numbers have no result.
    root = select(array < 0.0, _number(math.nan, array), root)
    return select((array == 0.0) | (array == math.inf), array, root)


def exp(array: Any) -> Array:
    """The exponential."""
    return _named("exp", _exponential, _single("exp", array))


def _exponential(array: Array) -> Array:
    """2 to an integer power, times a polynomial in the fraction."""
    limited = binary("minimum", binary("maximum", array, -104.0), 89.0)
    # Numbers of this size have no fraction.
    large = 1.5 * 2.0**23
    whole = fused(limited, 1 / math.log(2), large) - large
    rest = fused(whole, -_LN2_UPPER, limited)
    rest = fused(whole, _LN2_UPPER - math.log(2), rest)
    tail = _polynomial(rest, _EXPONENTIAL)
    return _scaled(fused(rest * rest, tail, rest) + 1.0, cast(whole, i32))


def log(array: Any, base: float) -> Array:
    """The logarithm."""
    name = _LOGARITHMS[base]
    return _named(name, lambda parts: _logarithm(parts, base), _single(name, array))


def _logarithm(array: Array, base: float) -> Array:
    """The logarithm of a number between the roots of 1/2 and 2, plus an integer multiple of that of 2."""
    small = array < _SMALLEST
    number = bits(select(small, array * 2.0**24, array), i32) - _ROOT_OF_HALF
    exponent = cast((number >> 23) - cast(small, i32) * 24, f32)
    fraction = bits((number & _FRACTION) + _ROOT_OF_HALF, f32) - 1.0
    square = fraction * fraction
    tail = square * fused(fraction, _polynomial(fraction, _LOGARITHM), -0.5)
    upper, lower = _split(1 / math.log(base))
    found = fused(fraction, upper, fused(tail, upper, fraction * lower))
    upper, lower = _split(math.log(2) / math.log(base))
    found = fused(exponent, upper, fused(exponent, lower, found))
    # Infinity and NaN are returned unchanged; 0 has the result minus infinity, and negative numbers have
    # none.
    special = select(array < 0.0, _number(math.nan, array), array)
    special = select(array == 0.0, _number(-math.inf, array), special)
    regular = (array > 0.0) & (array < math.inf)
    return select(regular, found, special)
