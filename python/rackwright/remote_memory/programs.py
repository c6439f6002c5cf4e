"""The paging runtime with a program in it, and the built-in workloads."""

from __future__ import annotations

import hashlib
import tarfile
from collections.abc import Sequence
from pathlib import Path

from bootstrap.paths import BUILD, SOFTWARE
from bootstrap.software import third_party
from rackwright.errors import RackwrightError
from rackwright.machine.programs import compile_bare_metal, compile_program

_FOLDER = SOFTWARE / "remote-memory"
_RUNTIME = (
    *("main", "console", "bytes", "tables", "frames", "blade", "unit", "fault", "regions", "load"),
    *("calls", "files", "descriptors", "pipes", "harts", "threads", "processes"),
)
WORKLOADS = {
    "genome": "genome.c",
    "leveldb": "leveldb.cc",
    "processes": "processes.c",
    "qsort": "quicksort.c",
    "snappy": "snappy.c",
    "sqlite": "sqlite.c",
    "threads": "threads.c",
}
"""Names of the built-in workloads: their sources are in software/remote-memory/workloads."""

_SQLITE_OPTIONS = ("-O2", "-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION")
_LEVELDB_OPTIONS = (
    *("-O2", "-DLEVELDB_PLATFORM_POSIX=1", "-DLEVELDB_IS_BIG_ENDIAN=0", "-DHAVE_FDATASYNC=1"),
    *("-DHAVE_FULLFSYNC=0", "-DHAVE_CRC32C=0", "-DHAVE_SNAPPY=1"),
)
_LEVELDB_FOLDERS = ("db", "table", "util", "helpers/memenv")
_NOT_OF_THE_STORE = ("test", "bench", "leveldbutil", "windows")
"""Parts of file names in LevelDB's sources that are tests, tools, or for another system."""


def workload(name: str) -> Path:
    """A built-in workload by its name, compiled, or the static RV64 Linux program at that path.

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
    sources, options = _official(name)
    return compile_program([source, *sources], output, options)


def _official(name: str) -> tuple[list[Path], list[str]]:
    """The sources of the official library that a workload needs, if any, and the compiler's options."""
    if name == "sqlite":
        folder = third_party("libsqlite3-sys") / "sqlite3"
        return [folder / "sqlite3.c"], [f"-I{folder}", *_SQLITE_OPTIONS]
    if name == "leveldb":
        folder = third_party("leveldb-sys") / "deps" / "leveldb-1.22"
        sources = [file for part in _LEVELDB_FOLDERS for file in sorted((folder / part).glob("*.cc"))]
        ours = [file for file in sources if not any(word in file.name for word in _NOT_OF_THE_STORE)]
        return ours, [f"-I{folder}", f"-I{folder / 'include'}", *_LEVELDB_OPTIONS]
    return [], []


def paging_program(program: Path, files: Sequence[Path] = ()) -> Path:
    """The bare-metal program that runs a static RV64 Linux program over remote memory.

    It finds itself and `files` in its working directory, by their names without folders. Raises
    `RackwrightError` when two of them have one name.
    """
    names = [file.name for file in (program, *files)]
    if len(set(names)) < len(names):
        raise RackwrightError(f"two files have one name in the program's folder: {', '.join(sorted(names))}")
    sources = [*(_FOLDER / f"{name}.c" for name in _RUNTIME), _FOLDER / "start.S"]
    key = _key(program, *files, *_FOLDER.glob("*.[chS]"))
    output = BUILD / "programs" / "remote-memory" / key / "paging.elf"
    if output.exists():
        return output
    archive = output.with_name("files.tar")
    output.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive, "w", format=tarfile.USTAR_FORMAT) as members:
        for file in (program, *files):
            members.add(file, file.name, recursive=False)
    options = [
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
