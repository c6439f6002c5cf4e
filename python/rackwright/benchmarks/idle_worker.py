"""A process with a cluster of Linux servers that have pinged each other and idle; it prints its memory.

    python -m rackwright.benchmarks.idle_worker CHECKPOINT SERVERS

The proportional set size in bytes: a page that is mapped twice counts half for each mapping, so that memory
shared through a checkpoint counts once.
"""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

from bootstrap.paths import REPOSITORY

_SCRIPT = REPOSITORY / "examples" / "clusters" / "linux_servers.py"
_IDLE_MS = 60


def proportional_bytes(text: str) -> int:
    """The proportional set size in the text of a `smaps_rollup`, in bytes."""
    found = re.search(r"^Pss: +(\d+) kB", text, re.MULTILINE)
    assert found is not None, text
    return int(found[1]) * 1024


def main() -> None:
    """Simulates until all servers idle."""
    cluster = runpy.run_path(str(_SCRIPT))["in_a_ring"](sys.argv[1], int(sys.argv[2]))
    machine = cluster.machine()
    machine.run(round(_IDLE_MS * cluster.clock_hz / 1e3))
    print(proportional_bytes(Path("/proc/self/smaps_rollup").read_text(encoding="ascii")))


if __name__ == "__main__":
    main()
