"""The paging runtime with a program in it, and the workloads that come with it."""

from __future__ import annotations

import hashlib
import tarfile
from collections.abc import Sequence
from pathlib import Path

from bootstrap.paths import BUILD, SOFTWARE
from bootstrap.software import third_party
from rackwright.errors import RackwrightError
from rackwright.programs import compile_bare_metal, compile_program

_FOLDER = SOFTWARE / "remote-memory"
_RUNTIME = (
    *("main", "console", "bytes", "tables", "frames", "blade", "unit", "fault", "regions", "load"),
    *("calls", "files", "descriptors", "harts", "threads"),
)
WORKLOADS = {
    "genome": "genome.c",
    "qsort": "quicksort.c",
    "snappy": "snappy.c",
    "sqlite": "sqlite.c",
    "threads": "threads.c",
}
"""Names of the workloads that come with the product: their sources in software/remote-memory/workloads."""

_SQLITE_OPTIONS = ("-O2", "-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION")


def workload(name: str) -> Path:
    """A workload by its name, compiled, or the static RV64 Linux program of that path.

    Raises `RackwrightError` when it is neither.
    """
    if name in WORKLOADS:
        source = _FOLDER / "workloads" / WORKLOADS[name]
        output = BUILD / "programs" / "remote-memory" / _key(source) / f"{name}.elf"
        return output if output.exists() else _compile(name, source, output)
    path = Path(name)
    if not path.is_file():
        raise RackwrightError(f"{name}: no such file, nor a workload: {', '.join(WORKLOADS)}")
    return path.resolve()


def _compile(name: str, source: Path, output: Path) -> Path:
    if name != "sqlite":
        return compile_program([source], output)
    official = third_party("libsqlite3-sys") / "sqlite3"
    return compile_program([source, official / "sqlite3.c"], output, [f"-I{official}", *_SQLITE_OPTIONS])


def paging_program(program: Path, files: Sequence[Path] = ()) -> Path:
    """The bare-metal program that runs a static RV64 Linux program over remote memory.

    It finds `files` in its working directory, by their names without folders.
    """
    sources = [*(_FOLDER / f"{name}.c" for name in _RUNTIME), _FOLDER / "start.S"]
    key = _key(program, *files, *_FOLDER.glob("*.[chS]"))
    output = BUILD / "programs" / "remote-memory" / key / "paging.elf"
    if output.exists():
        return output
    archive = output.with_name("files.tar")
    output.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive, "w", format=tarfile.USTAR_FORMAT) as members:
        for file in files:
            members.add(file, file.name, recursive=False)
    options = [
        f'-DPROGRAM="{program}"',
        f'-DFILES="{archive}"',
        f"-I{SOFTWARE / 'network'}",
        "-O2",
        "-Wl,-e,every_hart",
    ]
    return compile_bare_metal(sources, output, options)


def _key(*files: Path) -> str:
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]
