"""Compiles programs for the simulated machine."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Sequence
from pathlib import Path

from bootstrap.compression import REPLACED, replace_flags
from bootstrap.paths import BUILD, SOFTWARE
from bootstrap.software import RISCV
from rackwright.errors import MissingBuildError, RackwrightError
from rackwright.files.whole import make_whole

_BARE_METAL = SOFTWARE / "bare-metal"
_NETWORK = SOFTWARE / "network"
_LINUX = SOFTWARE / "linux" / "programs"
INCLUDES = (
    SOFTWARE / "include",
    SOFTWARE / "snappy",
    SOFTWARE / "compression",
    RISCV.directory / "include",
)
"""The folders of our headers and those of the official libsnappy."""

_ARCHIVES = ("librackwright.a", "libsnappy.a")

_ALLOCATOR = SOFTWARE / "allocate" / "malloc.c"

# In the order in which they need each other, before the official libraries.
_COMPRESSION = ("librackwright-compression.a", "libzstd.a", "libz.a")


def compile_program(
    sources: Sequence[str | Path],
    output: str | Path | None = None,
    options: Sequence[str] = (),
    *,
    by_units: Sequence[str] = (),
) -> Path:
    """Compiles C or C++ sources into a static RV64GC program for Linux; returns its path.

    Our headers (`rackwright/rocc.h`, `rackwright_snappy.h`), our drivers and the official libsnappy are
    available. `by_units` names official libraries ("snappy", "zstd", "zlib") whose functions are redirected
    to the units (`bootstrap.compression.REPLACED` lists them), in unmodified programs; "malloc" gives all
    allocations to the unit `allocate`. ZStd and zlib are available once `./rw bench compression` has built
    them. Without `output`, the program is written to
    .build/programs, in a separate folder for these sources and options, and named after the first source.
    Raises `RackwrightError` with the compiler's output.
    """
    archives = driver_archives()
    libraries = [name for name in by_units if name != "malloc"]
    options = [*options, *(flag for name in libraries for flag in _replaced(name))]
    archives = [*_built_compression(libraries), *archives]
    paths = [Path(source) for source in sources]
    allocator = [_ALLOCATOR] if "malloc" in by_units else []
    program = place_of([*paths, *allocator], output, options)
    objects = [_compiled_beside(program, source) for source in allocator]
    command = [
        *RISCV.compiler(paths[0]),
        *RISCV.flags,
        *(f"-I{folder}" for folder in INCLUDES),
        *options,
        *map(str, paths),
        *map(str, objects),
        *map(str, archives),
        "-lstdc++",
        "-lm",
    ]
    make_program(command, program)
    return program


def _compiled_beside(program: Path, source: Path) -> Path:
    """The object of a source of ours, in its own language."""
    compiled = program.with_name(f"{program.stem}-{source.stem}.o")
    command = [
        *RISCV.compiler(source),
        *RISCV.flags,
        *(f"-I{folder}" for folder in INCLUDES),
        "-c",
        str(source),
    ]
    make_program(command, compiled)
    return compiled


def driver_archives() -> list[Path]:
    """Our drivers and the official libsnappy; raises `MissingBuildError` when they were not built."""
    archives = [RISCV.directory / name for name in _ARCHIVES]
    if not all(archive.exists() for archive in archives):
        raise MissingBuildError("software/")
    return archives


def _replaced(library: str) -> list[str]:
    if library not in REPLACED:
        raise RackwrightError(
            f"no library {library} that units can replace; there are {', '.join([*REPLACED, 'malloc'])}"
        )
    return replace_flags(library)


def _built_compression(by_units: Sequence[str]) -> list[Path]:
    archives = [RISCV.directory / name for name in _COMPRESSION]
    if all(archive.exists() for archive in archives):
        return archives
    if by_units:
        raise MissingBuildError("the official ZStd and zlib", "./rw bench compression")
    return []


def compile_bare_metal(
    sources: Sequence[str | Path], output: str | Path | None = None, options: Sequence[str] = ()
) -> Path:
    """Compiles C sources into a program that runs without an operating system; returns its path.

    `software/bare-metal/README.md` describes its environment. Otherwise like `compile_program`.
    """
    paths = [Path(source) for source in sources]
    program = place_of(paths, output, options)
    bare = ("-mcmodel=medany", "-nostdlib", "-nostartfiles", "-ffreestanding", "-Wl,--build-id=none")
    command = [
        *RISCV.compiler(paths[0]),
        *RISCV.flags,
        *bare,
        *(f"-I{folder}" for folder in (_BARE_METAL, SOFTWARE / "include")),
        f"-T{_BARE_METAL / 'link.ld'}",
        *options,
        str(_BARE_METAL / "crt.S"),
        *map(str, paths),
    ]
    make_program(command, program)
    return program


def compile_network_program(
    sources: Sequence[str | Path], output: str | Path | None = None, options: Sequence[str] = ()
) -> Path:
    """Compiles C sources into a program for a server of a cluster, with the library of software/network.

    These are its driver for the network interface, IP and UDP, and the parts listed in
    `software/network/README.md`; unused ones are omitted. Otherwise like `compile_bare_metal`.
    """
    library = sorted(_NETWORK.glob("*.c"))
    sections = ("-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections")
    return compile_bare_metal([*sources, *library], output, [f"-I{_NETWORK}", *sections, *options])


def network_programs() -> dict[str, Path]:
    """The programs of software/network by name: their sources."""
    return {source.stem: source for source in sorted((_NETWORK / "programs").glob("*.c"))}


def network_program(program: str | Path) -> Path:
    """The file of a program for servers in clusters: an ELF file, or one of software/network by its name.

    They are compiled if their sources have changed. Raises `RackwrightError` when it is neither.
    """
    path, known = Path(program), network_programs()
    if path.exists():
        return path.resolve()
    if path.name != str(program) or path.stem not in known:
        raise RackwrightError(
            f"{program}: no such file, nor a program of software/network: {', '.join(known)}"
        )
    output = BUILD / "programs" / "network" / f"{path.stem}.elf"
    newest = max(file.stat().st_mtime for folder in (_NETWORK, _BARE_METAL) for file in folder.rglob("*"))
    if not output.exists() or output.stat().st_mtime < newest:
        compile_network_program([known[path.stem]], output)
    return output


def linux_program(name: str) -> Path:
    """Compiles one of software/linux/programs, for a server that runs Linux; returns its path.

    They find the text and the random numbers of software/network. Raises `RackwrightError` for another name.
    """
    source = _LINUX / f"{name}.c"
    if not source.exists():
        raise RackwrightError(f"software/linux/programs has no {source.name}")
    return compile_program([source, _NETWORK / "text.c", _NETWORK / "random.c"], options=[f"-I{_NETWORK}"])


def place_of(sources: Sequence[Path], output: str | Path | None, options: Sequence[str]) -> Path:
    """The path of a program: programs with the same name from other sources have another path."""
    if not sources:
        raise RackwrightError("there is no source to compile")
    if output:
        program = Path(output)
    else:
        made_of = "\0".join([*(str(source.resolve()) for source in sources), "", *options])
        key = hashlib.sha256(made_of.encode()).hexdigest()[:16]
        program = BUILD / "programs" / key / f"{sources[0].stem}.elf"
    program.parent.mkdir(parents=True, exist_ok=True)
    return program


def make_program(command: Sequence[str], program: Path) -> None:
    """Compiles and links `program`; a concurrent reader, such as another run, finds a complete file."""
    make_whole(program, lambda fresh: run_compiler([*command, "-o", str(fresh)], program))


def run_compiler(command: Sequence[str], program: Path) -> None:
    """Compiles `program`; raises `RackwrightError` with the first error and all output after it."""
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode == 0:
        return
    lines = result.stderr.strip().splitlines()
    first = next((line for line in lines if "error" in line), "the compiler does not say why")
    raise RackwrightError(f"{program.name} does not compile: {first}\n" + "\n".join(lines[:_ERROR_LINES]))


_ERROR_LINES = 20
"""Number of shown lines of a compiler's output: the first state the cause, the rest follows from it."""
