"""Calls as programs count them themselves, and as profiles have them."""

from __future__ import annotations

import subprocess
from pathlib import Path

from rackwright.profiling import Profile

NO_INLINING = ["-O2", "-fno-inline"]
EVERY_CALL = ["-O0"]
"""Destructors that do nothing are called too."""
INSTRUMENTED = ["-finstrument-functions", "-finstrument-functions-exclude-file-list=/usr"]
"""With software/tests/profile/counts.c."""


def counts_of(printed: str, program: Path) -> dict[str, int]:
    """What a program with counts.c has printed, by the symbols at each address."""
    symbols: dict[int, list[str]] = {}
    listed = subprocess.run(["riscv64-linux-gnu-nm", program], capture_output=True, text=True, check=True)
    for line in listed.stdout.splitlines():
        words = line.split()
        if len(words) == 3 and words[1] in "tTwW":
            symbols.setdefault(int(words[0], 16), []).append(words[2])
    rows = (line.split() for line in printed.splitlines())
    return {" ".join(symbols[int(address, 16)]): int(calls) for address, calls in rows}


def calls_by_symbol(seen: Profile, module: str) -> dict[str, int]:
    """The calls of each function of a module."""
    calls = seen.calls()
    calls = calls[calls["module"] == module]
    return dict(zip(calls["symbol"], map(int, calls["count"]), strict=True))
