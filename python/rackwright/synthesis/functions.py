"""Functions of the outputs of cells, as Liberty files write them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product

from rackwright.errors import RackwrightError

_TOKEN = re.compile(r"\s*([A-Za-z_]\w*|[01]|[!()'*&+|^])")


def inputs_of(function: str) -> tuple[str, ...]:
    """The pins that a function names, in the order of their names."""
    return tuple(
        sorted({token for token in _TOKEN.findall(function) if token[0].isalpha() or token[0] == "_"})
    )


@cache
def table_of(function: str) -> tuple[int, ...]:
    """The values of a function for every row of its inputs, of which the last one changes fastest.

    Raises `RackwrightError` as `evaluate`.
    """
    inputs = inputs_of(function)
    rows = product((0, 1), repeat=len(inputs))
    return tuple(evaluate(function, dict(zip(inputs, row, strict=True))) for row in rows)


def evaluate(function: str, values: Mapping[str, int]) -> int:
    """What a function of Liberty gives for these inputs; raises `RackwrightError` for one that is none."""
    tokens = _TOKEN.findall(function)
    if "".join(tokens) != "".join(function.split()):
        raise RackwrightError(f"the function {function} of a cell has signs that synthesis does not know")
    return _Reader(iter([*tokens, ""]), values).value()


class _Reader:
    """Reads an expression: `!` and `'` bind most, then `^`, then signs for AND or none, then those for OR."""

    def __init__(self, tokens: Iterator[str], values: Mapping[str, int]) -> None:
        self._tokens = tokens
        self._values = values
        self._next = next(tokens)

    def _take(self) -> str:
        taken, self._next = self._next, next(self._tokens, "")
        return taken

    def value(self) -> int:
        value = self._both()
        while self._next in ("+", "|") and self._next:
            self._take()
            value |= self._both()
        return value

    def _both(self) -> int:
        value = self._odd()
        while self._next and self._next not in "+|)":
            if self._next in "*&":
                self._take()
            value &= self._odd()
        return value

    def _odd(self) -> int:
        value = self._single()
        while self._next == "^":
            self._take()
            value ^= self._single()
        return value

    def _single(self) -> int:
        token = self._take()
        if token == "!":
            value = 1 - self._single()
        elif token == "(":
            value = self.value()
            self._take()
        else:
            value = int(token) if token in ("0", "1") else self._values[token]
        while self._next == "'":
            self._take()
            value = 1 - value
        return value
