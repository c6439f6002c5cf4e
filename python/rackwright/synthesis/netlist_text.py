"""The forms in which yosys writes a netlist in Verilog: one instance, pin or assignment after the other."""

from __future__ import annotations

import re

NAME = r"\\\S+ |[A-Za-z_][\w$]*"
"""A name; one that is escaped ends with a space."""

INSTANCE = re.compile(rf"^  (\w+) ({NAME}) *\((.*?)^  \);\n", re.MULTILINE | re.DOTALL)
"""An instance in a module: what it is of, its name, and its pins."""

PIN = re.compile(r"^    \.(\w+)\((.*)\),?$", re.MULTILINE)
"""A pin of an instance, and the expression at it."""

ASSIGNED = re.compile(r"^  assign (.+) = (.+);$", re.MULTILINE)
"""Two expressions whose bits are the same."""


def plain(name: str) -> str:
    """A name as the source has it, without its escape."""
    return name.strip().lstrip("\\")
