"""Targets of a chip's Verilog, which differ in memories, checks and initial values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rackwright.errors import RackwrightError


@dataclass(frozen=True)
class Target:
    """The reader: `monitors` are TileLink's assertions, separate memories are modules supplied by others."""

    name: str
    monitors: bool
    memories_apart: bool

    @property
    def is_synthesised(self) -> bool:
        """Whether code that only simulators understand is omitted."""
        return not self.monitors


TARGETS = {
    target.name: target
    for target in (
        Target("simulation", monitors=True, memories_apart=False),
        Target("fpga", monitors=False, memories_apart=False),
        Target("asic", monitors=False, memories_apart=True),
    )
}


def target_of(name: str) -> Target:
    """The target of this name; raises `RackwrightError` for one that there is not."""
    if name not in TARGETS:
        raise RackwrightError(f"--target: there is none named {name}; there are {', '.join(TARGETS)}")
    return TARGETS[name]


_DIRECTIVE = re.compile(r"^\s*`(ifdef|ifndef|elsif|else|endif|define|undef)\b\s*(\w*)")


def without_simulation(verilog: str) -> str:
    """Verilog that FIRRTL or firtool wrote, as a tool that defines `SYNTHESIS` alone would read it.

    Their initial values, prints and assertions are conditional on that macro and on further ones.
    """
    return "".join(_chosen(verilog.splitlines(keepends=True)))


def _chosen(lines: list[str]) -> Iterator[str]:
    # For each open condition: whether its branch is read, and whether one of its branches has been.
    open_: list[tuple[bool, bool]] = []
    for line in lines:
        directive = _DIRECTIVE.match(line)
        if directive is None:
            if all(read for read, _ in open_):
                yield line
            continue
        word, holds = directive[1], directive[2] == "SYNTHESIS"
        if word in ("ifdef", "ifndef"):
            read = holds == (word == "ifdef")
            open_.append((read, read))
        elif word in ("else", "elsif"):
            _, taken = open_.pop()
            read = not taken and (word == "else" or holds)
            open_.append((read, taken or read))
        elif word == "endif":
            open_.pop()
