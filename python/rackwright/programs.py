"""Compiles programs for the simulated machine."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from bootstrap.paths import SOFTWARE
from bootstrap.software import RISCV
from rackwright.errors import MissingBuildError, RackwrightError

_INCLUDES = (SOFTWARE / "include", SOFTWARE / "snappy", RISCV.directory / "include")
_ARCHIVES = ("librackwright.a", "libsnappy.a")


def compile_program(sources: Sequence[str | Path], output: str | Path, options: Sequence[str] = ()) -> Path:
    """Compiles C or C++ sources into a static RV64GC program for Linux; gives its path.

    Our headers (`rackwright/rocc.h`, `rackwright_snappy.h`), our drivers and the official libsnappy
    are there to use. Raises `RackwrightError` with what the compiler says.
    """
    archives = [RISCV.directory / name for name in _ARCHIVES]
    if not all(archive.exists() for archive in archives):
        raise MissingBuildError("software/")
    paths = [Path(source) for source in sources]
    Path(output).parent.mkdir(parents=True, exist_ok=True)
    command = [
        *RISCV.compiler(paths[0]),
        *RISCV.flags,
        *(f"-I{folder}" for folder in _INCLUDES),
        *options,
        *map(str, paths),
        *map(str, archives),
        "-o",
        str(output),
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise RackwrightError(f"{paths[0].name} does not compile:\n{result.stderr.strip()}")
    return Path(output)
