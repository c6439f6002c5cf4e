"""Views of an array without moving it: permuted axes, slices, other shapes."""

from __future__ import annotations

import math
from dataclasses import replace
from types import EllipsisType

from rackwright.drx.expression import Concat, Expression, Leaf, looked_at
from rackwright.errors import RackwrightError

Index = int | slice | EllipsisType | None


def broadcast(expression: Expression, shape: tuple[int, ...]) -> Expression:
    """An array of `shape`, repeated along additional axes and those of extent 1."""
    if expression.shape == shape:
        return expression
    more = len(shape) - len(expression.shape)
    fits = more >= 0 and all(
        own in (1, wanted) for own, wanted in zip(expression.shape, shape[more:], strict=True)
    )
    if not fits:
        raise RackwrightError(f"shape {expression.shape} does not broadcast to {shape}")

    def look(leaf: Leaf) -> Leaf:
        own = zip(leaf.shape, shape[more:], leaf.strides, strict=True)
        strides = [stride if extent == wanted else 0 for extent, wanted, stride in own]
        return replace(leaf, shape=shape, strides=(0,) * more + tuple(strides))

    return looked_at(expression, shape, look)


def permuted(expression: Expression, axes: tuple[int, ...]) -> Expression:
    """Axis i of the result is axis `axes[i]`."""
    count = len(expression.shape)
    axes = tuple(axis + count if axis < 0 else axis for axis in axes)
    if sorted(axes) != list(range(count)):
        raise RackwrightError(f"axes {axes} are not those of shape {expression.shape}")
    shape = tuple(expression.shape[axis] for axis in axes)

    def look(leaf: Leaf) -> Leaf:
        return replace(leaf, shape=shape, strides=tuple(leaf.strides[axis] for axis in axes))

    return looked_at(expression, shape, look)


def indexed(expression: Expression, index: Index | tuple[Index, ...]) -> Expression:
    """Basic indexing, as in NumPy: numbers, slices with any step, an ellipsis, `None` for a new axis."""
    wanted = _complete(index if isinstance(index, tuple) else (index,), expression.shape)
    shape: list[int] = []
    parts: list[tuple[int, int] | None] = []
    axis = 0
    for part in wanted:
        if part is None:
            parts.append(None)
            shape.append(1)
            continue
        extent = expression.shape[axis]
        if isinstance(part, slice):
            places = range(*part.indices(extent))
            if not places:
                raise RackwrightError(f"the slice of axis {axis}, of {extent} elements, has none")
            parts.append((places.start, places.step))
            shape.append(len(places))
        else:
            if not -extent <= part < extent:
                raise RackwrightError(f"index {part} is outside axis {axis}, which has {extent} elements")
            parts.append((part % extent, 0))
        axis += 1

    def look(leaf: Leaf) -> Leaf:
        offset, strides, axis = leaf.offset, [], 0
        for part, wanted_part in zip(parts, wanted, strict=True):
            if part is None:
                strides.append(0)
                continue
            begin, step = part
            offset += begin * leaf.strides[axis]
            if isinstance(wanted_part, slice):
                strides.append(step * leaf.strides[axis])
            axis += 1
        return replace(leaf, shape=tuple(shape), offset=offset, strides=tuple(strides))

    return looked_at(expression, tuple(shape), look)


def _complete(index: tuple[Index, ...], shape: tuple[int, ...]) -> list[int | slice | None]:
    """The index with a part for every axis."""
    given = sum(part is not None and part is not ... for part in index)
    missing: list[int | slice | None] = [slice(None)] * (len(shape) - given)
    if given > len(shape) or sum(part is ... for part in index) > 1:
        raise RackwrightError(f"{len(index)} indices for an array of shape {shape}")
    parts: list[int | slice | None] = []
    for part in index:
        if part is ...:
            parts += missing
        elif part is None or isinstance(part, int | slice):
            parts.append(part)
        else:
            raise RackwrightError(f"an index is a number, a slice, an ellipsis or None, not {part!r}")
    return parts if any(part is ... for part in index) else parts + missing


def flipped(expression: Expression, axes: tuple[int, ...]) -> Expression:
    """Elements from the last to the first along `axes`."""
    count = len(expression.shape)
    backwards = {axis % count for axis in axes}
    return indexed(
        expression, tuple(slice(None, None, -1 if axis in backwards else 1) for axis in range(count))
    )


def reshaped(expression: Expression, shape: tuple[int, ...]) -> Expression:
    """The same elements in the same order in another shape, where no intermediate array is needed."""
    shape = _known(expression, shape)
    if isinstance(expression, Concat) and expression.axis == 0:
        return _parts_reshaped(expression, shape)

    def look(leaf: Leaf) -> Leaf:
        strides = _strides(leaf, shape)
        if strides is None:
            raise RackwrightError(
                f"reshape from {expression.shape} to {shape} crosses axes that are not in memory in that "
                "order: reshape the input first"
            )
        return replace(leaf, shape=shape, strides=strides)

    return looked_at(expression, shape, look)


def _parts_reshaped(whole: Concat, shape: tuple[int, ...]) -> Expression:
    """Each part in its own shape, which differs from the complete shape only in the first extent."""
    inner = math.prod(shape[1:])
    if any(math.prod(part.shape) % inner for part in whole.parts):
        raise RackwrightError(f"reshape to {shape} mixes arrays that xp.concat has joined")
    shapes = [(math.prod(part.shape) // inner, *shape[1:]) for part in whole.parts]
    parts = tuple(reshaped(part, own) for part, own in zip(whole.parts, shapes, strict=True))
    return Concat(whole.element, shape, parts, 0)


def _known(expression: Expression, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape with -1 replaced by a number."""
    size, given = math.prod(expression.shape), math.prod(extent for extent in shape if extent != -1)
    if shape.count(-1) == 1 and given and size % given == 0:
        shape = tuple(size // given if extent == -1 else extent for extent in shape)
    if math.prod(shape) != size or min(shape, default=1) < 1:
        raise RackwrightError(f"{expression.shape} has {size} elements, and {shape} has not")
    return shape


def _strides(leaf: Leaf, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """Strides of the leaf's elements in the new shape, if there are any that do.

    Axes of both shapes are taken together, from the first on, until they have equally many elements: within
    such a group the old axes must follow one another in memory.
    """
    old = [(extent, stride) for extent, stride in zip(leaf.shape, leaf.strides, strict=True) if extent > 1]
    strides = [0] * len(shape)
    axis = 0
    while axis < len(shape):
        if shape[axis] == 1:
            axis += 1
            continue
        group, (extent, stride) = [axis], old.pop(0)
        wanted = shape[axis]
        while wanted != extent:
            if wanted < extent:
                axis += 1
                group.append(axis)
                wanted *= shape[axis]
            else:
                more, inner = old.pop(0)
                if stride != inner * more:
                    return None
                extent, stride = extent * more, inner
        for member in reversed(group):
            strides[member] = stride
            stride *= shape[member]
        axis += 1
    return tuple(strides)
