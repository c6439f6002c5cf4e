"""Compiles the official ZStd and zlib, what gives their functions to units, and the benchmark of formats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bootstrap.paths import SOFTWARE
from bootstrap.software import HOST, RISCV, Target, third_party
from bootstrap.steps import execute

FOLDERS = ("include", "process", "compression", "measure", "benchmark", "third-party")
"""The folders of software/ that this depends on."""

_OWN = SOFTWARE / "compression"

REPLACED = {
    "zstd": ("ZSTD_compress", "ZSTD_decompress", "ZSTD_compressCCtx", "ZSTD_decompressDCtx"),
    "zlib": ("compress", "compress2", "uncompress"),
    "snappy": ("snappy_compress", "snappy_uncompress"),
}
"""By library: functions that a program's linker, or a library that is preloaded, can give to units."""

PRELOAD = RISCV.directory / "librackwright-preload.so"
"""For Linux on simulated servers: LD_PRELOAD of dynamically linked programs."""

# -15, 15 and 31 are what zlib calls these wrappers.
_CODECS = {
    "snappy": ("codec_snappy.cpp", ()),
    "zstd": ("codec_zstd.cpp", ()),
    "deflate": ("codec_zlib.cpp", ("-DWINDOW_BITS=-15",)),
    "zlib": ("codec_zlib.cpp", ("-DWINDOW_BITS=15",)),
    "gzip": ("codec_zlib.cpp", ("-DWINDOW_BITS=31",)),
}

FORMATS = tuple(_CODECS)
"""The formats that there is a benchmark for."""


@dataclass(frozen=True)
class _Library:
    """An official library: its archive, its sources, and the headers that programs include."""

    archive: str
    sources: tuple[Path, ...]
    headers: tuple[Path, ...]
    defines: tuple[str, ...]


def benchmark(target: Target, format_name: str, engine: str) -> Path:
    """The program for `format_name` with `engine` ("library" or, for RV64GC, "unit")."""
    return target.directory / "compression" / f"{format_name}-{engine}"


def replace_flags(library: str) -> list[str]:
    """What makes the compiler give a library's functions to the units."""
    return [f"-Wl,--wrap={name}" for name in REPLACED[library]]


def build() -> None:
    """Makes the archives and the benchmark, for both machines; for RV64GC with the units too."""
    libraries = (_zstd(), _zlib())
    for target in (RISCV, HOST):
        (target.directory / "compression").mkdir(parents=True, exist_ok=True)
        for library in libraries:
            _archive(target, library)
            target.publish(*library.headers)
    _drivers()
    _preload()
    for format_name in FORMATS:
        _link(HOST, format_name, "library")
        _link(RISCV, format_name, "library")
        _link(RISCV, format_name, "unit")


def _zstd() -> _Library:
    source = third_party("zstd-sys") / "zstd" / "lib"
    folders = ("common", "compress", "decompress")
    sources = tuple(path for name in folders for path in sorted((source / name).glob("*.c")))
    # The hand-written assembler is for one processor, and needs one of the compilers' dialects.
    return _Library(
        "libzstd.a", sources, (source / "zstd.h", source / "zstd_errors.h"), ("-DZSTD_DISABLE_ASM",)
    )


def _zlib() -> _Library:
    source = third_party("libz-sys") / "src" / "zlib"
    sources = tuple(path for path in sorted(source.glob("*.c")) if not path.name.startswith("gz"))
    return _Library("libz.a", sources, (source / "zlib.h", source / "zconf.h"), ())


def _archive(target: Target, library: _Library) -> None:
    path = target.directory / library.archive
    flags, noted = " ".join(target.flags), path.with_suffix(".flags")
    is_same = noted.exists() and noted.read_text(encoding="utf-8") == flags
    if path.exists() and is_same and path.stat().st_mtime > max(each.stat().st_mtime for each in _inputs()):
        return
    folder = target.directory / "compression" / path.stem
    target.archive("software", path, target.compile("software", library.sources, folder, library.defines))
    noted.write_text(flags, encoding="utf-8")


def _inputs() -> Iterator[Path]:
    """What the archives of unchanged sources depend on."""
    yield from (SOFTWARE / "third-party" / "Cargo.lock", Path(__file__))


def _own_flags(target: Target) -> list[str]:
    folders = (_OWN, SOFTWARE / "include", target.directory / "include")
    return ["-Wall", "-Wextra", "-Werror", *(f"-I{folder}" for folder in folders)]


def _drivers() -> None:
    """The units as functions, and what replaces the libraries' functions by them."""
    folder = RISCV.directory / "compression" / "drivers"
    objects = RISCV.compile("software", sorted(_OWN.glob("*.c")), folder, _own_flags(RISCV))
    RISCV.archive("software", RISCV.directory / "librackwright-compression.a", objects)


def _preload() -> None:
    """The same as a shared library that stands before the official ones, which it looks for when it runs."""
    exported = [name for names in REPLACED.values() for name in names]
    names = RISCV.directory / "compression" / "preload.map"
    names.write_text("{ global: " + "".join(f"{name}; " for name in exported) + "local: *; };\n", "utf-8")
    sources = [
        path for folder in (_OWN, _OWN / "preload", SOFTWARE / "process") for path in folder.glob("*.c")
    ]
    command = [
        *RISCV.compiler(sources[0]),
        *(flag for flag in RISCV.flags if flag != "-static"),
        *_own_flags(RISCV),
        *(f"-D__wrap_{name}={name}" for name in exported),
        *("-shared", "-fPIC", f"-Wl,--version-script={names}"),
        *map(str, sorted(sources)),
        *("-o", str(PRELOAD)),
    ]
    execute("software", command)


def _link(target: Target, format_name: str, engine: str) -> None:
    source, defines = _CODECS[format_name]
    sources = [_OWN / "benchmark" / "main.cpp", _OWN / "benchmark" / source]
    sources.append(SOFTWARE / "benchmark" / "files.cpp")
    own = ("librackwright-compression.a", "librackwright.a") if target is RISCV else ()
    drivers = [str(RISCV.directory / name) for name in own]
    replaced = [flag for name in REPLACED for flag in replace_flags(name)] if engine == "unit" else []
    archives = [str(target.directory / name) for name in ("libzstd.a", "libz.a")]
    command = [
        f"{target.compiler_prefix}g++",
        "-std=c++17",
        *target.flags,
        *_own_flags(target),
        *defines,
        *(["-DBY_UNIT"] if engine == "unit" else []),
        *replaced,
        *map(str, sources),
        *drivers,
        *archives,
        str(target.directory / "libsnappy.a"),
        "-o",
        str(benchmark(target, format_name, engine)),
    ]
    execute("software", command)
