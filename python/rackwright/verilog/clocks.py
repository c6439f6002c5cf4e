"""The inputs of a design whose edges its blocks wait for: clocks, and resets that take effect at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from pyslang import ast

_RESET = re.compile(r"n?[aph]?(rst|reset|clr|clear)(n|ni|b|l)?(i|in)?", re.IGNORECASE)
_CLOCK = re.compile(r"[aph]?(clk|clock)(i|in)?", re.IGNORECASE)
_EDGES = (ast.EdgeKind.PosEdge, ast.EdgeKind.NegEdge, ast.EdgeKind.BothEdges)


def edge_inputs(top: ast.InstanceSymbol) -> list[str]:
    """The inputs of a top module that a block waits for an edge of, there or in a module below."""
    names = [port.name for port in top.body.portList if isinstance(port, ast.PortSymbol)]
    found = _edges(top, {name: name for name in names}, set())
    return [name for name in names if name in found]


def _edges(
    instance: ast.InstanceSymbol, inputs: Mapping[str, str], known: set[tuple[str, tuple[str, ...]]]
) -> set[str]:
    """Those of a module's `inputs`, which are called after the pins of the top module behind them."""
    found: set[str] = set()

    def look(symbol: Any) -> Any:
        if isinstance(symbol, ast.ProceduralBlockSymbol) and isinstance(symbol.body, ast.TimedStatement):
            found.update(inputs[name] for name in event_names(symbol.body.timing) if name in inputs)
        if not isinstance(symbol, ast.InstanceSymbol) or symbol == instance:
            return ast.VisitAction.Advance
        below = {}
        for connection in symbol.portConnections:
            signal = getattr(connection.expression, "symbol", None)
            if signal is not None and signal.name in inputs:
                below[connection.port.name] = inputs[signal.name]
        # Instances of one module with the same inputs wait for the same edges.
        key = (symbol.body.name, tuple(f"{name}={pin}" for name, pin in sorted(below.items())))
        if key not in known:
            known.add(key)
            found.update(_edges(symbol, below, known))
        return ast.VisitAction.Skip

    instance.visit(look)
    return found


def event_names(timing: Any) -> list[str]:
    """The names of the signals of whose edges a block waits for one."""
    events = timing.events if isinstance(timing, ast.EventListControl) else [timing]
    symbols = [
        getattr(event.expr, "symbol", None)
        for event in events
        if isinstance(event, ast.SignalEventControl) and event.edge in _EDGES
    ]
    return [symbol.name for symbol in symbols if symbol is not None]


def is_reset(name: str) -> bool:
    """Whether a signal is named as a reset: a word of its name says so."""
    return any(_RESET.fullmatch(word) for word in name.split("_"))


def is_low(name: str) -> bool:
    """Whether a reset is named as one that resets while it is 0."""
    words = name.lower().split("_")
    return any(
        word in ("n", "ni", "b") or re.fullmatch(r"n(rst|reset)|\w*(rst|reset)(n|ni|b|l)", word)
        for word in words
    )


def reset_of(clock: str, names: Iterable[str]) -> str | None:
    """The reset among `names` that is named like a clock: `rst_fast_n` like `clk_fast`."""
    about = _others(clock, _CLOCK)
    return next((name for name in names if is_reset(name) and _others(name, _RESET) == about), None)


def _others(name: str, word: re.Pattern[str]) -> list[str]:
    """The words of a name but the one that tells what it is, and those that tell its direction."""
    words = name.lower().split("_")
    return [each for each in words if not word.fullmatch(each) and each not in ("n", "ni", "b", "i", "in")]
