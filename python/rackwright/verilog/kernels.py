"""Finds the registers of kernels out of tools for high-level synthesis, whose Verilog names their addresses.

The tools of Xilinx write a module `KERNEL_BUNDLE_s_axi` behind each port `s_axi_BUNDLE`, with a local
parameter `ADDR_NAME` for each register.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_ADDRESS = re.compile(r"\bADDR_(\w+)\s*=\s*\d+\s*'h([0-9a-fA-F_]+)")

_MEANINGS = {
    "ap_ctrl": "bit 0: start; 1: done, until read; 2: idle; 3: ready; 7: starts again by itself",
    "gie": "bit 0: the interrupt line is driven",
    "ier": "what interrupts: bit 0: done; 1: ready",
    "isr": "what has interrupted, as in ier; a bit that is written as 1 changes",
}
"""What registers are that every kernel has: its control, and that of its interrupt."""


def kernel_registers(port: str, size: int, files: Iterable[Path]) -> list[dict[str, Any]]:
    """The registers behind `port` by their offsets, all below `size`, if one of the files names them."""
    if not (match := re.fullmatch(r"s_axi_(\w+)", port, re.IGNORECASE)):
        return []
    module = re.compile(rf"^\s*module\s+(\w+_)?{re.escape(match[1])}_s_axi\b", re.MULTILINE)
    for file in files:
        text = file.read_text(encoding="utf-8", errors="replace")
        if module.search(text):
            found = {int(offset, 16): name.lower() for name, offset in _ADDRESS.findall(text)}
            return [
                {"name": name, "offset": offset, **_meaning(name)}
                for offset, name in sorted(found.items())
                if offset < size and offset % 4 == 0
            ]
    return []


def encodes_state(parameter: str) -> bool:
    """Whether a parameter encodes a state of a kernel's control, which these tools do not write as local."""
    return re.match(r"ap_ST_\w*fsm_", parameter) is not None


def _meaning(name: str) -> dict[str, str]:
    return {"meaning": _MEANINGS[name]} if name in _MEANINGS else {}
