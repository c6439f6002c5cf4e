"""Runs programs without the host's clock, which mapping spends a tenth of its time on.

ABC reads the clock nine million times for a large piece, to print times that are not used. Each time is a
call of the kernel.
"""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from rackwright.files.whole import make_whole
from rackwright.synthesis.tools import program, run

_SOURCE = """#include <ctime>
extern "C" clock_t clock() noexcept { return 0; }
extern "C" int clock_gettime(clockid_t, timespec *time) noexcept { *time = {}; return 0; }
"""


def without_clock(folder: Path) -> dict[str, str]:
    """An environment in which every clock says 0. What it needs is compiled into `folder`, once."""
    library = folder / "without-clock.so"
    if not library.exists():
        folder.mkdir(parents=True, exist_ok=True)
        make_whole(library, _compile)
    return {**os.environ, "LD_PRELOAD": str(library)}


def _compile(library: Path) -> None:
    with TemporaryDirectory() as folder:
        source = Path(folder) / "clock.cpp"
        source.write_text(_SOURCE, encoding="utf-8")
        command = [program("g++"), "-O2", "-shared", "-fPIC", "-o", str(library), str(source)]
        run(command, source.with_suffix(".log"))
