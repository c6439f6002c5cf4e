"""Compiles the software: the official libsnappy and the benchmark, for the host and for RV64GC."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bootstrap.console import NotReadyError
from bootstrap.jobs import side_by_side
from bootstrap.paths import SOFTWARE, SOFTWARE_HOST, SOFTWARE_RISCV
from bootstrap.steps import execute

FOLDERS = ("include", "process", "snappy", "measure", "benchmark", "third-party")
"""The folders of software/ that are compiled here; tests compile their own programs."""

_THIRD_PARTY = SOFTWARE / "third-party"

# What the library's own build finds out about every compiler that we support.
_SNAPPY_DEFINES = (
    "-DNDEBUG",
    "-DHAVE_BUILTIN_EXPECT=1",
    "-DHAVE_BUILTIN_CTZ=1",
    "-DHAVE_BUILTIN_PREFETCH=1",
    "-DHAVE_ATTRIBUTE_ALWAYS_INLINE=1",
)
_SNAPPY_SOURCES = ("snappy.cc", "snappy-c.cc", "snappy-sinksource.cc", "snappy-stubs-internal.cc")
_SNAPPY_HEADERS = ("snappy.h", "snappy-c.h", "snappy-sinksource.h")
_DRIVER_SOURCES = (
    "process/operation.c",
    "process/residence.c",
    "process/sequence.c",
    "snappy/rackwright_snappy.c",
    "snappy/snappy_process.c",
)


@dataclass(frozen=True)
class Target:
    """A machine to compile for, and how."""

    directory: Path
    compiler_prefix: str
    flags: tuple[str, ...]

    def compiler(self, source: Path) -> list[str]:
        """The compiler for a source file, in the language that its name says."""
        if source.suffix == ".c":
            return [f"{self.compiler_prefix}gcc", "-std=gnu11"]
        return [f"{self.compiler_prefix}g++", "-std=c++17"]

    def compile(self, step: str, sources: Iterable[Path], folder: Path, flags: Sequence[str]) -> list[Path]:
        """Compiles sources side by side into objects in `folder`, and returns these in their order."""
        folder.mkdir(parents=True, exist_ok=True)

        def one(source: Path) -> Path:
            output = folder / f"{source.stem}.o"
            command = [*self.compiler(source), *self.flags, *flags, "-c", str(source), "-o", str(output)]
            execute(step, command)
            return output

        return side_by_side(one, sources)

    def archive(self, step: str, archive: Path, objects: Iterable[Path]) -> None:
        """Makes a static library of these objects alone."""
        archive.unlink(missing_ok=True)
        execute(step, [f"{self.compiler_prefix}ar", "rcs", str(archive), *map(str, objects)])

    def publish(self, *headers: Path) -> None:
        """Puts the public headers of a library where programs find them."""
        folder = self.directory / "include"
        folder.mkdir(exist_ok=True)
        for header in headers:
            shutil.copyfile(header, folder / header.name)


# Static, as everything that runs on the simulated machine.
RISCV = Target(SOFTWARE_RISCV, "riscv64-linux-gnu-", ("-O3", "-march=rv64gc", "-mabi=lp64d", "-static"))

MEASURED = "-O3"
"""How far the libraries of this machine are optimised when their speed counts."""

HOST_OPTIMISATION = os.environ.get("RACKWRIGHT_HOST_OPTIMISATION", MEASURED)
"""How far they are optimised here. CI, which does not measure them, sets less."""

# The strongest baseline: with every instruction that this processor has.
HOST = Target(SOFTWARE_HOST, "", (HOST_OPTIMISATION, "-march=native", "-DSNAPPY_HAVE_SSSE3=__SSSE3__"))

# The reference that results are compared with. Without -march=native: its hash function depends on
# the processor, and the same file must compress to the same bytes on every machine.
REFERENCE = Target(SOFTWARE_HOST / "reference", "", ("-O3", "-fPIC"))


def third_party(package: str) -> Path:
    """Where Cargo keeps the package that carries an official library's source."""
    manifest = _THIRD_PARTY / "Cargo.toml"
    execute("software", ["cargo", "fetch", "--locked", "--manifest-path", str(manifest)])
    command = ["cargo", "metadata", "--format-version=1", "--locked", "--offline"]
    result = subprocess.run(
        [*command, "--manifest-path", str(manifest)], capture_output=True, text=True, check=False
    )
    if result.returncode != 0:
        raise NotReadyError(f"cargo cannot tell where {package} is: {result.stderr.strip()}")
    for each in json.loads(result.stdout)["packages"]:
        if each["name"] == package:
            return Path(each["manifest_path"]).parent
    raise NotReadyError(f"software/third-party/Cargo.toml does not name {package}")


def write_public_header(source: Path, directory: Path) -> None:
    """What the library's CMake would generate. The version is only informative."""
    text = (source / "snappy-stubs-public.h.in").read_text(encoding="utf-8")
    values = {"HAVE_SYS_UIO_H_01": "1", "PROJECT_VERSION_MAJOR": "1"}
    values |= {"PROJECT_VERSION_MINOR": "3", "PROJECT_VERSION_PATCH": "1"}
    for name, value in values.items():
        text = text.replace("${" + name + "}", value)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "snappy-stubs-public.h").write_text(text, encoding="utf-8")


def _objects(target: Target, snappy: Path, own: list[Path]) -> tuple[list[Path], list[Path]]:
    """Compiles the official library and our own sources; returns the objects of each."""
    write_public_header(snappy, target.directory)
    folders = (SOFTWARE / "include", SOFTWARE / "snappy", snappy, target.directory)
    included = [f"-I{folder}" for folder in folders]
    official = [snappy / name for name in _SNAPPY_SOURCES]
    strict = ["-Wall", "-Wextra", "-Werror"]
    return (
        target.compile("software", official, target.directory, [*_SNAPPY_DEFINES, *included]),
        target.compile("software", own, target.directory, [*_SNAPPY_DEFINES, *strict, *included]),
    )


def _link(target: Target, objects: list[Path], name: str, *flags: str) -> None:
    arguments = [*target.flags, *flags, *map(str, objects), "-o", str(target.directory / name)]
    execute("software", [f"{target.compiler_prefix}g++", *arguments])


def build() -> None:
    """Makes the benchmark for both machines and the reference library.

    For RV64GC also what user programs use: `libsnappy.a` (official) with its headers, and
    `librackwright.a` (drivers).
    """
    snappy = third_party("snappy_src") / "snappy"
    benchmark = sorted((SOFTWARE / "benchmark").glob("*.cpp"))
    drivers = [SOFTWARE / name for name in _DRIVER_SOURCES]

    for target in (RISCV, HOST):
        library, own = _objects(target, snappy, [*benchmark, *(drivers if target is RISCV else [])])
        _link(target, [*library, *own], "snappy-benchmark")
        target.archive("software", target.directory / "libsnappy.a", library)
        if target is RISCV:
            target.archive("software", target.directory / "librackwright.a", own[len(benchmark) :])
        headers = (*(snappy / name for name in _SNAPPY_HEADERS), target.directory / "snappy-stubs-public.h")
        target.publish(*headers)

    reference, _ = _objects(REFERENCE, snappy, [])
    _link(REFERENCE, reference, "libsnappy.so", "-shared")
    (REFERENCE.directory / "libsnappy.so").replace(SOFTWARE_HOST / "libsnappy.so")
