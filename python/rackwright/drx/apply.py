"""Functions of arrays, applied to each part of an array that was concatenated."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rackwright.drx.expression import Concat, Constant, Expression
from rackwright.drx.views import indexed


def applied(parts: Sequence[Expression], make: Callable[[Sequence[Expression]], Expression]) -> Expression:
    """The results of `make` for arrays of one shape, or for the parts of the first concatenated array."""
    whole = next((part for part in parts if isinstance(part, Concat)), None)
    if whole is None:
        return make(parts)
    made = []
    for place, begin in enumerate(whole.begins):
        end = begin + whole.parts[place].shape[whole.axis]
        made.append(applied([_slice(part, whole, place, begin, end) for part in parts], make))
    return Concat(made[0].element, whole.shape, tuple(made), whole.axis)


def _slice(part: Expression, whole: Concat, place: int, begin: int, end: int) -> Expression:
    if isinstance(part, Concat) and (part.axis, part.begins) == (whole.axis, whole.begins):
        return part.parts[place]
    if isinstance(part, Constant):
        return Constant(part.element, whole.parts[place].shape, part.value)
    return indexed(part, (*[slice(None)] * whole.axis, slice(begin, end)))
