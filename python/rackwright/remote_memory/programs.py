"""The paging runtime with a program in it, and the workloads that come with it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from bootstrap.paths import BUILD, SOFTWARE
from rackwright.errors import RackwrightError
from rackwright.programs import compile_bare_metal, compile_program

_FOLDER = SOFTWARE / "remote-memory"
_RUNTIME = ("main", "console", "tables", "frames", "blade", "unit", "fault", "regions", "load", "calls")
WORKLOADS = {"genome": "genome.c", "qsort": "quicksort.c"}
"""Names of the workloads that come with the product: their sources in software/remote-memory/workloads."""


def workload(name: str) -> Path:
    """A workload by its name, compiled, or the static RV64 Linux program of that path.

    Raises `RackwrightError` when it is neither.
    """
    if name in WORKLOADS:
        source = _FOLDER / "workloads" / WORKLOADS[name]
        output = BUILD / "programs" / "remote-memory" / _key(source) / f"{name}.elf"
        return output if output.exists() else compile_program([source], output)
    path = Path(name)
    if not path.is_file():
        raise RackwrightError(f"{name}: no such file, nor a workload: {', '.join(WORKLOADS)}")
    return path.resolve()


def paging_program(program: Path) -> Path:
    """The bare-metal program that runs a static RV64 Linux program over remote memory."""
    sources = [*(_FOLDER / f"{name}.c" for name in _RUNTIME), _FOLDER / "start.S"]
    output = BUILD / "programs" / "remote-memory" / _key(program, *_FOLDER.glob("*.[chS]")) / "paging.elf"
    if output.exists():
        return output
    options = [f'-DPROGRAM="{program}"', f"-I{SOFTWARE / 'network'}", "-O2"]
    return compile_bare_metal(sources, output, options)


def _key(*files: Path) -> str:
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
