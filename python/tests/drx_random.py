"""Random kernels of DRX: expressions over arrays of any shapes, seen in any way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import reject
from hypothesis import strategies as st

from rackwright.drx import (
    ArrayType,
    Compiled,
    Configuration,
    Kernel,
    compile_kernel,
    f32,
    i8,
    i16,
    i32,
    kernel,
    u8,
    u16,
    xp,
)
from rackwright.errors import RackwrightError

NUMBERS = (u8, i8, u16, i16, i32, f32)


@dataclass(frozen=True)
class Case:
    """A kernel and inputs for it."""

    kernel: Kernel
    inputs: list[np.ndarray[Any, Any]]


def of(function: Callable[..., Any], inputs: list[np.ndarray[Any, Any]]) -> Case:
    """A case of a function, whose types are those of the inputs, and of what NumPy makes of them."""
    from rackwright.drx.element import element_of

    def typed(array: np.ndarray[Any, Any]) -> ArrayType:
        return ArrayType(element_of(array.dtype), array.shape)

    names = [f"x{place}" for place in range(len(inputs))]
    scope: dict[str, Any] = {"function": function}
    exec(f"def drawn({', '.join(names)}): return function({', '.join(names)})", scope)
    drawn = scope["drawn"]
    with np.errstate(all="ignore"):
        result = np.asarray(function(*inputs))
    drawn.__annotations__ = {
        **{name: typed(array) for name, array in zip(names, inputs, strict=True)},
        "return": typed(result),
    }
    return Case(kernel(drawn), inputs)


def compiled_or_rejected(case: Case, configuration: Configuration) -> Compiled:
    """A case compiled; it is none if a reshape needs an array between, which is not done yet."""
    try:
        return compile_kernel(case.kernel, configuration)
    except RackwrightError as error:
        if "crosses axes that are not in memory in that order" not in str(error):
            raise
        reject()


def same_numbers(output: bytes, case: Case) -> None:
    """The bytes are the numbers that NumPy gives, of which those that are none are all alike."""
    expected = case.kernel.host(case.inputs)
    found = np.frombuffer(output, expected.dtype).reshape(expected.shape)
    assert np.array_equal(found, expected, equal_nan=expected.dtype.kind == "f")


@st.composite
def arrays(draw: st.DrawFn, most: int = 12, axes: int = 3) -> np.ndarray[Any, Any]:
    """An array of any type, with numbers of its whole range."""
    element = draw(st.sampled_from(NUMBERS))
    shape = draw(st.lists(st.integers(1, most), min_size=1, max_size=axes))
    source = np.random.default_rng(draw(st.integers(0, 2**32)))
    if element is f32:
        return (source.standard_normal(shape) * 10.0 ** source.integers(-6, 7, shape)).astype(np.float32)
    limits = np.iinfo(element.dtype)  # type: ignore[type-var]
    return source.integers(limits.min, limits.max, tuple(shape), element.dtype, endpoint=True)


def _slices(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[slice, ...]:
    """Slices that leave elements: forwards and backwards, of every step."""
    found = []
    for extent in shape:
        first = draw(st.integers(0, extent - 1))
        last = draw(st.integers(0, extent - 1))
        step = draw(st.integers(1, 3)) * (1 if last >= first else -1)
        stop = last + (1 if step > 0 else -1)
        found.append(slice(first, None if stop < 0 else stop, step))
    return tuple(found)


def _view(draw: st.DrawFn, shape: tuple[int, ...]) -> Callable[[Any], Any]:
    """A way to look at an array."""
    kind = draw(st.sampled_from(["slice", "permute", "flip", "expand", "ravel", "none"]))
    if kind == "slice":
        index = _slices(draw, shape)
        return lambda array: array[index]
    if kind == "permute":
        order = tuple(draw(st.permutations(range(len(shape)))))
        return lambda array: xp.permute_dims(array, order)
    if kind == "flip":
        axis = draw(st.integers(0, len(shape) - 1))
        return lambda array: xp.flip(array, axis=axis)
    if kind == "expand":
        axis = draw(st.integers(0, len(shape)))
        return lambda array: xp.expand_dims(array, axis=axis)
    if kind == "ravel":
        return lambda array: xp.reshape(array, (-1,)) if array.shape == shape else array
    return lambda array: array


def _number(draw: st.DrawFn, dtype: np.dtype[Any]) -> int | float:
    if dtype.kind == "f":
        return draw(st.integers(-9, 9) | st.floats(width=32, allow_nan=False))
    limits = np.iinfo(dtype)
    near = st.integers(max(limits.min, -9), min(limits.max, 9))
    return draw(near | st.integers(int(limits.min), int(limits.max)))


_ARITHMETIC = ("add", "subtract", "multiply", "minimum", "maximum")
_BITWISE = ("bitwise_and", "bitwise_or", "bitwise_xor")
_COMPARISONS = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")


def _towards_0(dtype: np.dtype[Any]) -> Callable[[Any, list[Any]], Any]:
    """A cast of numbers of binary32 that the type has; NumPy leaves open what becomes of others."""

    def within(array: Any, _: list[Any]) -> Any:
        clipped = xp.clip(array, 0 if dtype.kind == "u" else -100, 100)
        return xp.astype(xp.where(array == array, clipped, 1), dtype)

    return within


def _is_kept(dtype: np.dtype[Any]) -> bool:
    return any(element.dtype == dtype for element in NUMBERS)


@st.composite
def cases(draw: st.DrawFn, most: int = 12) -> Case:
    """A kernel of a few operations over one or two inputs."""
    first = draw(arrays(most))
    second = draw(arrays(most)) if draw(st.booleans()) else first
    inputs = [first, second] if second is not first else [first]
    look = _view(draw, first.shape)
    steps: list[Callable[[Any, list[Any]], Any]] = [lambda value, given: look(given[0])]

    def now() -> np.ndarray[Any, Any]:
        value: Any = None
        with np.errstate(all="ignore"):
            for step in steps:
                value = step(value, inputs)
        return np.asarray(value)

    for _ in range(draw(st.integers(1, 5))):
        value = now()
        step = _step(draw, value, second)
        steps.append(step)
        if not _is_kept(now().dtype):
            steps.pop()

    def function(*given: Any) -> Any:
        value: Any = None
        for step in steps:
            value = step(value, list(given))
        return value

    return of(function, inputs)


def _step(
    draw: st.DrawFn, value: np.ndarray[Any, Any], other: np.ndarray[Any, Any]
) -> Callable[[Any, list[Any]], Any]:
    """One more operation on a value."""
    kinds = ["number", "other", "cast", "where", "clip", "view", "itself"]
    whole = value.dtype.kind != "f"
    kind = draw(st.sampled_from([*kinds, "shift"] if whole else kinds))
    fits = _broadcasts(value.shape, other.shape)
    both = whole and (kind != "other" or not fits or other.dtype.kind != "f")
    name = draw(st.sampled_from((*_ARITHMETIC, *_BITWISE) if both else _ARITHMETIC))
    number = _number(draw, value.dtype)
    if kind == "number":
        return lambda array, _: getattr(xp, name)(array, number)
    if kind == "other":
        return lambda array, given: getattr(xp, name)(array, given[-1] if fits else array)
    if kind == "cast":
        element = draw(st.sampled_from(NUMBERS))
        if not whole and element is not f32:
            return _towards_0(element.dtype)
        return lambda array, _: xp.astype(array, element.dtype)
    if kind == "shift":
        distance = draw(st.integers(0, 8 * value.dtype.itemsize - 1))
        way = draw(st.sampled_from(["bitwise_left_shift", "bitwise_right_shift"]))
        if distance > np.iinfo(value.dtype).max:
            distance = 1
        return lambda array, _: getattr(xp, way)(array, distance)
    if kind == "where":
        compared = draw(st.sampled_from(_COMPARISONS))
        return lambda array, _: xp.where(getattr(xp, compared)(array, number), array, -array)
    if kind == "clip":
        least, most = sorted((number, _number(draw, value.dtype)))
        return lambda array, _: xp.clip(array, least, most)
    if kind == "view":
        look = _view(draw, value.shape)
        return lambda array, _: look(array)
    return lambda array, _: getattr(xp, name)(array, array)


def _broadcasts(first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    try:
        np.broadcast_shapes(first, second)
    except ValueError:
        return False
    return True
