"""The arrays that a kernel sees while it is traced."""

from __future__ import annotations

from typing import Any

import numpy as np

from rackwright.drx.apply import applied
from rackwright.drx.element import Element, boolean, element_of, f32, i32, i64
from rackwright.drx.expression import Apply, Bits, Cast, Concat, Constant, Expression, Leaf, Reduce
from rackwright.drx.views import Index, broadcast, indexed, permuted
from rackwright.errors import RackwrightError


class Array:
    """A symbolic array: operations on it are recorded, by the rules of the standard."""

    __array_ufunc__ = None
    """NumPy's arrays leave operators to this class."""

    def __init__(self, expression: Expression) -> None:
        self.expression = expression

    @property
    def shape(self) -> tuple[int, ...]:
        """Elements along each axis."""
        return self.expression.shape

    @property
    def ndim(self) -> int:
        """Axes."""
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The type of its elements, as NumPy's."""
        return self.expression.element.dtype

    @property
    def T(self) -> Array:  # noqa: N802 (the standard's name)
        """Both axes of a matrix in the other order."""
        if self.ndim != 2:
            raise RackwrightError(f"T is for two axes, and this has {self.ndim}: xp.permute_dims")
        return Array(permuted(self.expression, (1, 0)))

    def __getitem__(self, index: Index | tuple[Index, ...]) -> Array:
        return Array(indexed(self.expression, index))

    def __bool__(self) -> bool:
        raise RackwrightError("a kernel can't decide by the value of an array: xp.where")

    def __iter__(self) -> Any:
        return (self[place] for place in range(self.shape[0]))

    def __add__(self, other: Any) -> Array:
        return binary("add", self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Array:
        return binary("subtract", self, other)

    def __rsub__(self, other: Any) -> Array:
        return binary("subtract", other, self)

    def __mul__(self, other: Any) -> Array:
        return binary("multiply", self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Array:
        from rackwright.drx.functions import divide

        return divide(self, other)

    def __rtruediv__(self, other: Any) -> Array:
        from rackwright.drx.functions import divide

        return divide(other, self)

    def __matmul__(self, other: Array) -> Array:
        return product(self, other)

    def __and__(self, other: Any) -> Array:
        return binary("and", self, other)

    __rand__ = __and__

    def __or__(self, other: Any) -> Array:
        return binary("or", self, other)

    __ror__ = __or__

    def __xor__(self, other: Any) -> Array:
        return binary("xor", self, other)

    __rxor__ = __xor__

    def __lshift__(self, other: Any) -> Array:
        return binary("shift_left", self, other)

    def __rshift__(self, other: Any) -> Array:
        return binary("shift_right", self, other)

    def __floordiv__(self, other: Any) -> Array:
        return binary("shift_right", self, _exponent(other, "//"))

    def __mod__(self, other: Any) -> Array:
        _exponent(other, "%")
        return binary("and", self, other - 1)

    def __pow__(self, other: Any) -> Array:
        if other != 2:
            raise RackwrightError(f"** {other} is not something that the unit does; ** 2 is")
        return self * self

    def __neg__(self) -> Array:
        # The negative of 0 is another number in binary32.
        return self * -1 if self.expression.element.float else binary("subtract", 0, self)

    def __pos__(self) -> Array:
        return self

    def __invert__(self) -> Array:
        return binary("xor", self, 1 if self.expression.element is boolean else all_ones(self))

    def __lt__(self, other: Any) -> Array:
        return compare("less", self, other)

    def __gt__(self, other: Any) -> Array:
        return compare("less", other, self)

    def __le__(self, other: Any) -> Array:
        return at_most(self, other)

    def __ge__(self, other: Any) -> Array:
        return at_most(other, self)

    def __eq__(self, other: object) -> Array:  # type: ignore[override]
        return compare("equal", self, other)

    def __ne__(self, other: object) -> Array:  # type: ignore[override]
        return ~compare("equal", self, other)

    __hash__ = None  # type: ignore[assignment]


def all_ones(array: Array) -> int:
    """The number of the array's type whose bits are all set."""
    return int(np.invert(np.zeros((), array.dtype)))


def _exponent(divisor: Any, sign: str) -> int:
    if not isinstance(divisor, int) or divisor < 1 or divisor & (divisor - 1):
        raise RackwrightError(f"{sign} {divisor}: the unit divides by powers of two alone")
    return divisor.bit_length() - 1


def expressions(*operands: Any) -> list[Expression]:
    """The operands as arrays of one shape; a number has the type of the first array."""
    arrays = [operand.expression for operand in operands if isinstance(operand, Array)]
    try:
        shape = np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError:
        shapes = " and ".join(str(array.shape) for array in arrays)
        raise RackwrightError(f"shapes {shapes} do not fit each other") from None
    return [
        broadcast(operand.expression, shape)
        if isinstance(operand, Array)
        else _constant(operand, arrays[0].element, shape)
        for operand in operands
    ]


def _constant(number: Any, element: Element, shape: tuple[int, ...]) -> Constant:
    if isinstance(number, np.integer | np.bool_):
        element, number = element_of(number.dtype), int(number)
    if isinstance(number, np.float32) or (element.float and isinstance(number, int | float)):
        return Constant(f32, shape, float(np.float32(number)))
    if isinstance(number, float | np.floating):
        raise RackwrightError(
            f"{number} is not an integer, and the elements are {element.dtype.name}: xp.astype the array to "
            "xp.float32 first"
        )
    if not isinstance(number, int):
        raise RackwrightError(f"{number!r} is neither an array of the kernel nor a number")
    limits = np.iinfo(np.uint8 if element is boolean else element.dtype)  # type: ignore[type-var]
    if not limits.min <= number <= limits.max:
        raise RackwrightError(f"{number} is not in the range of {element.dtype.name}")
    return Constant(element, shape, number)


def common(parts: list[Expression]) -> Element:
    """The result type of the standard for these operands."""
    return element_of(np.result_type(*(part.element.dtype for part in parts)))


def apply(function: str, element: Element, parts: list[Expression]) -> Array:
    """A function of the unit, of arrays of one shape."""
    if any(part.element is i64 for part in parts):
        raise RackwrightError("numbers of 64 bits can be cast alone: xp.astype them to xp.int32 first")
    return Array(applied(parts, lambda own: Apply(element, own[0].shape, function, tuple(own))))


def concatenated(arrays: list[Array], axis: int) -> Array:
    """Concatenated arrays of one type."""
    parts: list[Expression] = []
    for array in arrays:
        own = array.expression
        parts += own.parts if isinstance(own, Concat) and own.axis == axis else [own]
    shapes = {(*part.shape[:axis], *part.shape[axis + 1 :]) for part in parts}
    if len(shapes) != 1 or len({part.element for part in parts}) != 1:
        raise RackwrightError("concat: arrays differ in their types, or in their extents along other axes")
    if any(isinstance(part, Concat) for part in parts):
        raise RackwrightError("concat: of arrays that were joined along another axis")
    extent = sum(part.shape[axis] for part in parts)
    shape = (*parts[0].shape[:axis], extent, *parts[0].shape[axis + 1 :])
    return Array(Concat(parts[0].element, shape, tuple(parts), axis))


_BITWISE = ("and", "or", "xor")


def binary(function: str, first: Any, second: Any) -> Array:
    """A function of two arrays, or of an array and a number, in the type of both."""
    parts = expressions(first, second)
    element = common(parts)
    if element is boolean and function not in _BITWISE:
        raise RackwrightError(f"{function} of truth values: xp.astype them to a type of numbers first")
    if element.float and function in (*_BITWISE, "shift_left", "shift_right"):
        raise RackwrightError(f"{function} of float32: xp.astype it to an integer type first")
    return apply(function, element, _alike(parts, element))


def _alike(parts: list[Expression], element: Element) -> list[Expression]:
    """The parts in binary32, if their function is computed in it."""
    return [cast(Array(part), f32).expression for part in parts] if element.float else parts


def compare(function: str, first: Any, second: Any) -> Array:
    """A comparison, whose result are truth values."""
    parts = expressions(first, second)
    return apply(function, boolean, _alike(parts, common(parts)))


def at_most(first: Any, second: Any) -> Array:
    """Whether the first is less or equal; numbers of binary32 may be neither, nor greater."""
    less = compare("less", first, second)
    if any(each.element.float for each in expressions(first, second)):
        return less | compare("equal", first, second)
    return ~compare("less", second, first)


def select(condition: Array, chosen: Any, other: Any) -> Array:
    """One array where the condition holds, another one elsewhere."""
    if any(isinstance(each, Array) for each in (chosen, other)):
        # A number has the type of the other one, not that of the condition.
        chosen, other = map(Array, expressions(chosen, other))
    test, *both = expressions(condition, chosen, other)
    if test.element is not boolean:
        raise RackwrightError(f"where: the condition is of {test.element.dtype.name}, not of truth values")
    element = common(both)
    return apply("select", element, [test, *_alike(both, element)])


def cast(array: Array, element: Element) -> Array:
    """The array in another type: low bits, towards 0; of `boolean`, whether numbers are not 0."""
    own = array.expression
    if own.element is element:
        return array
    if element is boolean:
        return array != 0
    return Array(applied([own], lambda parts: _cast(parts[0], element)))


def _cast(own: Expression, element: Element) -> Expression:
    if own.element is i64 and element.float:
        raise RackwrightError(
            "64-bit elements can only be cast to integer types: xp.astype them to xp.int32 first"
        )
    if isinstance(own, Constant) and element.float:
        return Constant(element, own.shape, float(np.float32(own.value)))
    if own.element is i64 and isinstance(own, Leaf):
        # The low half of a number, in memory order.
        own = Leaf(i32, own.shape, own.input, 2 * own.offset, tuple(2 * step for step in own.strides))
    return own if own.element is element else Cast(element, own.shape, own)


def bits(array: Array, element: Element) -> Array:
    """The bits of numbers reinterpreted as another type of the same size."""
    own = array.expression
    return Array(applied([own], lambda parts: Bits(element, parts[0].shape, parts[0])))


def fused(first: Any, second: Any, third: Any) -> Array:
    """`first * second + third` of binary32, rounded once."""
    return apply("multiply_add", f32, _alike(expressions(first, second, third), f32))


def reduced(function: str, array: Array, axis: int | tuple[int, ...] | None, *, keepdims: bool) -> Array:
    """Reduction of elements along axes by a function of two; by default along all axes."""
    own = tuple(range(array.ndim)) if axis is None else (axis,) if isinstance(axis, int) else axis
    taken = {each % array.ndim for each in own}
    kept = [each for each in range(array.ndim) if each not in taken]
    moved = permuted(array.expression, (*kept, *sorted(taken)))
    shape = tuple(array.shape[each] for each in kept)
    found = Array(Reduce(moved.element, shape, function, moved))
    if keepdims:
        found = found[tuple(None if each in taken else slice(None) for each in range(array.ndim))]
    return found


def product(first: Array, second: Array) -> Array:
    """The product of matrices, which may be several along further axes."""
    if min(first.ndim, second.ndim) < 2:
        raise RackwrightError(f"@ of shapes {first.shape} and {second.shape}: the unit multiplies matrices")
    if first.shape[-1] != second.shape[-2]:
        raise RackwrightError(f"@ of shapes {first.shape} and {second.shape}: inner axes differ")
    columns = Array(permuted(second.expression, (*range(second.ndim - 2), second.ndim - 1, second.ndim - 2)))
    return reduced("add", first[..., :, None, :] * columns[..., None, :, :], -1, keepdims=False)
