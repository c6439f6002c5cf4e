"""Operations of a nest as expressions of C."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rackwright.drx.element import Element
from rackwright.errors import RackwrightError

TYPES = {
    "u8": "uint8_t",
    "i8": "int8_t",
    "u16": "uint16_t",
    "i16": "int16_t",
    "i32": "int32_t",
    "f32": "float",
    "boolean": "uint8_t",
    "i64": "int64_t",
}
"""Of elements by their names."""

_LEAST = -(2**31)

_WHOLE = {
    "add": "({0} + {1})",
    "subtract": "({0} - {1})",
    "multiply": "({0} * {1})",
    "and": "({0} & {1})",
    "or": "({0} | {1})",
    "xor": "({0} ^ {1})",
    "shift_left": "((uint32_t){1} < 32 ? (int32_t)((uint32_t){0} << ({1} & 31)) : 0)",
    "shift_right": "((int32_t){0} >> ((uint32_t){1} < 32 ? {1} : 31))",
    "minimum": "({0} < {1} ? {0} : {1})",
    "maximum": "({0} > {1} ? {0} : {1})",
    "less": "({0} < {1})",
    "equal": "({0} == {1})",
    "move": "{0}",
    "select": "({0} ? {1} : {2})",
    "multiply_add": "({0} + {1} * {2})",
}
"""A sum of products has its previous value as its first source, like all reductions."""

_FLOAT = {
    **{name: _WHOLE[name] for name in ("add", "subtract", "multiply", "less", "equal", "move", "select")},
    "minimum": "({0} < {1} || {0} != {0} ? {0} : {1})",
    "maximum": "({0} > {1} || {0} != {0} ? {0} : {1})",
    "multiply_add": "fmaf({1}, {2}, {0})",
    "divide": "({0} / {1})",
    "sqrt": "sqrtf({0})",
    "exp": "exp_({0})",
    "log": "log_({0})",
    "log2": "log2_({0})",
    "log10": "log10_({0})",
}


def number(value: int | float) -> str:
    """A constant."""
    if isinstance(value, float):
        if math.isfinite(value):
            return f"{value.hex()}f"
        return "NAN" if math.isnan(value) else "INFINITY" if value > 0 else "(-INFINITY)"
    return f"({value + 1} - 1)" if value == _LEAST else f"({value})" if value < 0 else str(value)


def value_of(function: str, element: Element, sources: Sequence[str], elements: Sequence[Element]) -> str:
    """A function of sources that are names or constants, as a number of `element`.

    `elements` are the types of the sources that are not constants. Integers are computed in 32 bits.
    """
    known = _FLOAT if any(each.float for each in elements) or element.float else _WHOLE
    if function not in known:
        raise RackwrightError(f"{function} of {element}: is not done on harts")
    text = known[function].format(*sources)
    if known is _FLOAT and not element.float:
        text = f"(int32_t){text}"
    return f"(({TYPES[element.name]}){text})"
