"""The computation of a kernel, as a graph: views of inputs, constants, and functions of them.

Views of an array (slices, permuted axes, other shapes) are resolved down to the inputs: a view of a function
of arrays is the function of the arrays' views. No node represents a view.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from rackwright.drx.element import Element
from rackwright.errors import RackwrightError


@dataclass(frozen=True, eq=False)
class Expression:
    """An array of `shape`."""

    element: Element
    shape: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Leaf(Expression):
    """Elements of an input: that at index i is `offset + sum(i * strides)`, counted in elements."""

    input: int
    offset: int
    strides: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Constant(Expression):
    """The same number everywhere; that of `f32` is a float."""

    value: int | float


@dataclass(frozen=True, eq=False)
class Apply(Expression):
    """A function of the unit, of arrays of its own shape, each with a type of its own."""

    function: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, eq=False)
class Cast(Expression):
    """The low bits of the numbers of another array."""

    source: Expression


@dataclass(frozen=True, eq=False)
class Bits(Expression):
    """The bits of another array's numbers, reinterpreted as a type of the same size."""

    source: Expression


@dataclass(frozen=True, eq=False)
class Reduce(Expression):
    """A function of all elements along the axes that another array has after those of this one, in order.

    The function is `add`, `minimum` or `maximum`.
    """

    function: str
    source: Expression


@dataclass(frozen=True, eq=False)
class Named(Expression):
    """A function that the unit does in `steps`, by its name in the standard, of arrays of its own shape."""

    name: str
    arguments: tuple[Expression, ...]
    steps: Expression


@dataclass(frozen=True, eq=False)
class Concat(Expression):
    """Arrays concatenated along an axis. It is never within another node: see `applied`."""

    parts: tuple[Expression, ...]
    axis: int

    @property
    def begins(self) -> list[int]:
        """The positions at which the parts begin along the axis."""
        extents = [part.shape[self.axis] for part in self.parts]
        return [sum(extents[:place]) for place in range(len(extents))]


def looked_at(expression: Expression, shape: tuple[int, ...], look: Callable[[Leaf], Leaf]) -> Expression:
    """The expression as an array of `shape`, whose inputs are viewed by `look`.

    Raises `RackwrightError` for concatenated arrays: their parts must be viewed.
    """
    if isinstance(expression, Concat):
        raise RackwrightError(
            "what xp.concat gives can be cast, computed with, and reshaped along axis 0 alone"
        )
    done: dict[int, Expression] = {}

    def look_before(more: int) -> Callable[[Leaf], Leaf]:
        """The view of all axes but the last, which are kept."""

        def at(leaf: Leaf) -> Leaf:
            own = len(leaf.shape) - more
            seen = look(replace(leaf, shape=leaf.shape[:own], strides=leaf.strides[:own]))
            return replace(
                seen, shape=seen.shape + leaf.shape[own:], strides=seen.strides + leaf.strides[own:]
            )

        return at

    def visit(node: Expression) -> Expression:
        if id(node) not in done:
            done[id(node)] = rebuilt(node)
        return done[id(node)]

    def rebuilt(node: Expression) -> Expression:
        if isinstance(node, Leaf):
            return look(node)
        if isinstance(node, Apply):
            return replace(node, shape=shape, arguments=tuple(map(visit, node.arguments)))
        if isinstance(node, Cast | Bits):
            return replace(node, shape=shape, source=visit(node.source))
        if isinstance(node, Named):
            arguments = tuple(map(visit, node.arguments))
            return replace(node, shape=shape, arguments=arguments, steps=visit(node.steps))
        if isinstance(node, Reduce):
            taken = node.source.shape[len(node.shape) :]
            source = looked_at(node.source, shape + taken, look_before(len(taken)))
            return replace(node, shape=shape, source=source)
        return replace(node, shape=shape)

    return visit(expression)


def in_steps(expression: Expression) -> Expression:
    """The same with the steps of all that is `Named` in its place."""
    done: dict[int, Expression] = {}

    def visit(node: Expression) -> Expression:
        if id(node) not in done:
            done[id(node)] = rebuilt(node)
        return done[id(node)]

    def rebuilt(node: Expression) -> Expression:
        if isinstance(node, Named):
            return visit(node.steps)
        if isinstance(node, Apply):
            return replace(node, arguments=tuple(map(visit, node.arguments)))
        if isinstance(node, Cast | Bits | Reduce):
            return replace(node, source=visit(node.source))
        if isinstance(node, Concat):
            return replace(node, parts=tuple(map(visit, node.parts)))
        return node

    return visit(expression)
