"""Random kernels of DRX: expressions over arrays of any shapes, seen in any way; each is of its seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

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

Array = np.ndarray[Any, Any]
Step = Callable[[Any, list[Any]], Any]
"""An operation on a value and the inputs."""

REFUSALS = (
    "crosses axes that are not in memory in that order",
    "and the unit room for",
    "of the scratchpad",
)
"""A reshape that needs an array between, which is not done yet; tiles that a small unit has no room for."""

HALF_PLACE = 2.0**-24
"""The largest error of rounding to binary32, of a number."""


@dataclass(frozen=True)
class Nearly:
    """What a result that is not exact should be, in binary64, and how far each number may be away from it."""

    exact: Array
    bound: Array


@dataclass(frozen=True)
class Case:
    """A kernel and inputs for it; without `nearly`, its result is NumPy's to the bit."""

    kernel: Kernel
    inputs: list[Array]
    nearly: Nearly | None = None


def of(function: Callable[..., Any], inputs: list[Array], nearly: Nearly | None = None) -> Case:
    """A case of a function, whose types are those of the inputs, and of what NumPy makes of them."""
    from rackwright.drx.element import element_of

    def typed(array: Array) -> ArrayType:
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
    return Case(kernel(drawn), inputs, nearly)


def compiled_cases(seeds: range, configuration: Configuration) -> Iterator[tuple[int, Case, Compiled]]:
    """The cases of these seeds, compiled, but for those that the compiler refuses for a known reason.

    Every eighth has larger arrays, which a small scratchpad takes in several tiles.
    """
    for seed in seeds:
        drawn = case(random.Random(seed), most=12 if seed % 8 else 40)
        try:
            yield seed, drawn, compile_kernel(drawn.kernel, configuration)
        except RackwrightError as error:
            if not any(reason in str(error) for reason in REFUSALS):
                raise


def same_numbers(output: bytes, case: Case) -> None:
    """The bytes are NumPy's numbers, of which those that are none are all alike; or near the exact ones."""
    result = case.kernel.result
    found = np.frombuffer(output, result.element.dtype).reshape(result.shape)
    if case.nearly is None:
        expected = case.kernel.host(case.inputs)
        assert np.array_equal(found, expected, equal_nan=expected.dtype.kind == "f")
        return
    with np.errstate(all="ignore"):
        known = np.isfinite(case.nearly.bound) & (np.abs(case.nearly.exact) < np.finfo(np.float32).max)
        away = np.abs(found.astype(np.float64) - case.nearly.exact)
    assert np.all(away[known] <= case.nearly.bound[known])


def array(source: random.Random, most: int = 12, axes: int = 4) -> Array:
    """An array of any type, with numbers of its whole range; of few axes if these are long."""
    element = source.choice(NUMBERS)
    shape = [source.randint(1, most) for _ in range(source.randint(1, axes if most < 20 else 3))]
    drawn = np.random.default_rng(source.getrandbits(32))
    if element is f32:
        return (drawn.standard_normal(shape) * 10.0 ** drawn.integers(-6, 7, shape)).astype(np.float32)
    limits = np.iinfo(element.dtype)  # type: ignore[type-var]
    return drawn.integers(limits.min, limits.max, tuple(shape), element.dtype, endpoint=True)


def _slices(source: random.Random, shape: tuple[int, ...]) -> tuple[slice, ...]:
    """Slices that leave elements: forwards and backwards, of every step."""
    found = []
    for extent in shape:
        first, last = source.randrange(extent), source.randrange(extent)
        step = source.randint(1, 3) * (1 if last >= first else -1)
        stop = last + (1 if step > 0 else -1)
        found.append(slice(first, None if stop < 0 else stop, step))
    return tuple(found)


def _view(source: random.Random, shape: tuple[int, ...]) -> Callable[[Any], Any]:
    """A way to look at an array."""
    kinds = ["slice", "permute", "flip", "ravel"] if shape else []
    kind = source.choice([*kinds, "expand", "none"])
    if kind == "slice":
        index = _slices(source, shape)
        return lambda array: array[index]
    if kind == "permute":
        order = tuple(source.sample(range(len(shape)), len(shape)))
        return lambda array: xp.permute_dims(array, order)
    if kind == "flip":
        axis = source.randrange(len(shape))
        return lambda array: xp.flip(array, axis=axis)
    if kind == "expand":
        axis = source.randint(0, len(shape))
        return lambda array: xp.expand_dims(array, axis=axis)
    if kind == "ravel":
        return lambda array: xp.reshape(array, (-1,)) if array.shape == shape else array
    return lambda array: array


def _number(source: random.Random, dtype: np.dtype[Any]) -> int | float:
    if dtype.kind == "f":
        anything = float(np.float32(source.uniform(-1, 1) * 10.0 ** source.randint(-20, 20)))
        return source.choice([source.randint(-9, 9), anything, source.choice([0.0, -0.0, np.inf, -np.inf])])
    limits = np.iinfo(dtype)
    near = source.randint(max(limits.min, -9), min(limits.max, 9))
    return source.choice([near, source.randint(int(limits.min), int(limits.max))])


_ARITHMETIC = ("add", "subtract", "multiply", "minimum", "maximum")
_BITWISE = ("bitwise_and", "bitwise_or", "bitwise_xor")
_COMPARISONS = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")


def _towards_0(dtype: np.dtype[Any]) -> Step:
    """A cast of numbers of binary32 that the type has; NumPy leaves open what becomes of others."""

    def within(array: Any, _: list[Any]) -> Any:
        clipped = xp.clip(array, 0 if dtype.kind == "u" else -100, 100)
        return xp.astype(xp.where(array == array, clipped, 1), dtype)

    return within


def _is_kept(dtype: np.dtype[Any]) -> bool:
    return any(element.dtype == dtype for element in NUMBERS)


def _value_of(steps: list[Step], given: list[Any]) -> Any:
    value: Any = None
    for step in steps:
        value = step(value, given)
    return value


def case(source: random.Random, most: int = 12) -> Case:
    """A kernel of a few operations over one or two inputs, the last of which may be one that is not exact."""
    first = array(source, most)
    second = array(source, most) if source.random() < 0.5 else first
    inputs = [first, second] if second is not first else [first]
    look = _view(source, first.shape)
    steps: list[Step] = [lambda _, given: look(given[0])]

    def now() -> Array:
        with np.errstate(all="ignore"):
            return np.asarray(_value_of(steps, inputs))

    for _ in range(source.randint(1, 5)):
        steps.append(_step(source, now(), second))
        if not _is_kept(now().dtype):
            steps.pop()
    nearly = None
    if now().dtype.kind == "f" and source.random() < 0.4:
        step, nearly = _inexact(source, now())
        steps.append(step)
    kept = list(steps)
    return of(lambda *given: _value_of(kept, list(given)), inputs, nearly)


def _inexact(source: random.Random, value: Array) -> tuple[Step, Nearly]:
    """A sum, a product of matrices or a function of a value of binary32, and what it should be."""
    wide = value.astype(np.float64)
    kinds = ["sqrt", "exp", "log", "log2", "log10", "divide", *(["sum"] if value.ndim else [])]
    name = source.choice([*kinds, *(["matmul"] if value.ndim == 2 else [])])
    with np.errstate(all="ignore"):
        if name == "sum":
            axes = _axes(source, value.ndim)
            count = np.prod([value.shape[axis] for axis in axes])
            bound = count * HALF_PLACE * np.sum(np.abs(wide), axis=axes)
            return lambda array, _: xp.sum(array, axis=axes), Nearly(np.sum(wide, axis=axes), bound)
        if name == "matmul":
            bound = value.shape[0] * HALF_PLACE * (np.abs(wide.T) @ np.abs(wide))
            return lambda array, _: array.T @ array, Nearly(wide.T @ wide, bound)
        if name == "divide":
            number = source.choice([3.0, -7.5, 1e-3])
            exact = wide / float(np.float32(number))
            return lambda array, _: array / number, Nearly(exact, _place(exact))
        exact = getattr(np, name)(wide)
        return lambda array, _: getattr(xp, name)(array), Nearly(exact, _place(exact))


def _place(exact: Array) -> Array:
    """A unit in the last place of binary32."""
    return np.spacing(np.abs(exact.astype(np.float32))).astype(np.float64)


def _axes(source: random.Random, count: int) -> tuple[int, ...]:
    return tuple(sorted(source.sample(range(count), source.randint(1, count))))


def _step(source: random.Random, value: Array, other: Array) -> Step:
    """One more operation on a value."""
    kinds = ["number", "other", "cast", "where", "clip", "view", "itself"]
    whole = value.dtype.kind != "f"
    kind = source.choice([*kinds, *(["shift"] if whole else []), *(["reduce"] if value.ndim else [])])
    fits = _broadcasts(value.shape, other.shape)
    both = whole and (kind != "other" or not fits or other.dtype.kind != "f")
    name = source.choice((*_ARITHMETIC, *_BITWISE) if both else _ARITHMETIC)
    number = _number(source, value.dtype)
    if kind == "number":
        return lambda array, _: getattr(xp, name)(array, number)
    if kind == "other":
        return lambda array, given: getattr(xp, name)(array, given[-1] if fits else array)
    if kind == "cast":
        element = source.choice(NUMBERS)
        if not whole and element is not f32:
            return _towards_0(element.dtype)
        return lambda array, _: xp.astype(array, element.dtype)
    if kind == "shift":
        distance = source.randrange(8 * value.dtype.itemsize)
        way = source.choice(["bitwise_left_shift", "bitwise_right_shift"])
        return lambda array, _: getattr(xp, way)(array, distance)
    if kind == "where":
        return _choice(source, value.dtype, number)
    if kind == "clip":
        least, most = sorted((number, _number(source, value.dtype)))
        return lambda array, _: xp.clip(array, least, most)
    if kind == "view":
        look = _view(source, value.shape)
        return lambda array, _: look(array)
    if kind == "reduce":
        return _reduction(source, value)
    return lambda array, _: getattr(xp, name)(array, array)


def _choice(source: random.Random, dtype: np.dtype[Any], number: float) -> Step:
    """Of an array and its negative, or of an array and a number, on either side."""
    compared, chosen = source.choice(_COMPARISONS), _number(source, dtype)
    kind = source.choice(["negative", "chosen", "other"])

    def choose(array: Any, _: list[Any]) -> Any:
        condition = getattr(xp, compared)(array, number)
        if kind == "negative":
            return xp.where(condition, array, -array)
        return xp.where(condition, chosen, array) if kind == "chosen" else xp.where(condition, array, chosen)

    return choose


def _reduction(source: random.Random, value: Array) -> Step:
    """One whose result is exact."""
    axes, keeps = _axes(source, value.ndim), source.random() < 0.5
    if value.dtype.kind != "f" and source.random() < 0.5:
        return lambda array, _: xp.sum(array, axis=axes, dtype=xp.int32, keepdims=keeps)
    name = source.choice(["max", "min"])
    return lambda array, _: getattr(xp, name)(array, axis=axes, keepdims=keeps)


def _broadcasts(first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    try:
        np.broadcast_shapes(first, second)
    except ValueError:
        return False
    return True
