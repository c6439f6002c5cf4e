"""Names of Verilog modules, which several units of one chip may share."""

from __future__ import annotations

import re

_MODULE = re.compile(r"^module (\w+)", re.MULTILINE)


def module_names(verilog: str) -> list[str]:
    """The modules that a file declares at the beginning of a line."""
    return _MODULE.findall(verilog)


def with_prefix(verilog: str, prefix: str) -> str:
    """The Verilog that elaboration writes, with `prefix` before the name of each of its modules.

    It has declarations at the beginning of a line and instances on separate lines, so that names of signals
    can be distinguished from those of modules.
    """
    names = "|".join(sorted(map(re.escape, module_names(verilog)), key=len, reverse=True))
    verilog = re.sub(rf"^module ({names})\b", rf"module {prefix}\1", verilog, flags=re.MULTILINE)
    return re.sub(rf"^(\s+)({names})(\s+(?:#\(|\w+\s*\())", rf"\1{prefix}\2\3", verilog, flags=re.MULTILINE)
