"""Types of elements, and of arrays of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rackwright.errors import RackwrightError


@dataclass(frozen=True)
class Element:
    """An element type, with the instruction set's name; `u8[4, 8]` is the type of an array of it."""

    name: str

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The same type in NumPy."""
        return np.dtype(_NUMPY[self.name])

    @property
    def stored(self) -> str:
        """The type of the instruction set that has its bytes."""
        return "u8" if self.name == "boolean" else self.name

    @property
    def float(self) -> bool:
        """Numbers are binary32."""
        return self.name == "f32"

    @property
    def bytes(self) -> int:
        """Bytes of an element."""
        return int(self.dtype.itemsize)

    def __getitem__(self, shape: int | tuple[int, ...]) -> ArrayType:
        return ArrayType(self, shape if isinstance(shape, tuple) else (shape,))

    def __str__(self) -> str:
        return self.name


_NUMPY = {
    "u8": "uint8",
    "i8": "int8",
    "u16": "uint16",
    "i16": "int16",
    "i32": "int32",
    "f32": "float32",
    "boolean": "bool",
    "i64": "int64",
}

u8, i8, u16, i16, i32, f32, boolean, i64 = (Element(name) for name in _NUMPY)

ELEMENTS = (u8, i8, u16, i16, i32, f32, boolean, i64)
"""All types; an input may be `i64`, and must be cast."""


@dataclass(frozen=True)
class ArrayType:
    """An array with these extents, whose last axis is contiguous."""

    element: Element
    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        if not all(isinstance(extent, int) and extent > 0 for extent in self.shape):
            raise RackwrightError(f"{self.element}[{self.shape}]: an axis has at least one element")

    @property
    def size(self) -> int:
        """Elements."""
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.element.bytes

    def __str__(self) -> str:
        return f"{self.element}[{', '.join(map(str, self.shape))}]"


def element_of(dtype: object) -> Element:
    """The type that is `dtype` in NumPy; raises `RackwrightError` for one that the unit does not have."""
    wanted = np.dtype(dtype)  # type: ignore[call-overload]
    for element in ELEMENTS:
        if element.dtype == wanted:
            return element
    raise RackwrightError(f"the unit has no {wanted.name}; there are {', '.join(map(str, ELEMENTS))}")
