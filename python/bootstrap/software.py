"""Compiles the software: the official libsnappy and the benchmark, for the host and for RV64GC."""

from __future__ import annotations

import json
import shutil
import subprocess
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


# Static, as everything that runs on the simulated machine.
RISCV = Target(SOFTWARE_RISCV, "riscv64-linux-gnu-", ("-O3", "-march=rv64gc", "-mabi=lp64d", "-static"))

# The strongest baseline: with every instruction that this processor has.
HOST = Target(SOFTWARE_HOST, "", ("-O3", "-march=native", "-DSNAPPY_HAVE_SSSE3=__SSSE3__"))

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


def _include_flags(snappy: Path, target: Target) -> list[str]:
    folders = (SOFTWARE / "include", SOFTWARE / "snappy", snappy, target.directory)
    return [f"-I{folder}" for folder in folders]


def _compile(target: Target, snappy: Path, source: Path, warnings: bool) -> Path:
    """Compiles one source file; gives the object."""
    output = target.directory / f"{source.stem}.o"
    strict = ["-Wall", "-Wextra", "-Werror"] if warnings else []
    flags = [*target.flags, *_SNAPPY_DEFINES, *strict, *_include_flags(snappy, target)]
    execute("software", [*target.compiler(source), *flags, "-c", str(source), "-o", str(output)])
    return output


def _objects(target: Target, snappy: Path, own: list[Path]) -> list[Path]:
    """Compiles the official library and our own sources; gives the objects."""
    write_public_header(snappy, target.directory)
    official = [snappy / name for name in _SNAPPY_SOURCES]
    jobs = [(source, False) for source in official] + [(source, True) for source in own]
    return side_by_side(lambda job: _compile(target, snappy, *job), jobs)


def _link(target: Target, objects: list[Path], name: str, *flags: str) -> None:
    arguments = [*target.flags, *flags, *map(str, objects), "-o", str(target.directory / name)]
    execute("software", [f"{target.compiler_prefix}g++", *arguments])


def _archive(target: Target, objects: list[Path], name: str) -> None:
    archive = target.directory / name
    archive.unlink(missing_ok=True)
    execute("software", [f"{target.compiler_prefix}ar", "rcs", str(archive), *map(str, objects)])


def _publish_headers(snappy: Path, target: Target) -> None:
    """Puts the official library's public headers where programs find them."""
    folder = target.directory / "include"
    folder.mkdir(exist_ok=True)
    for name in _SNAPPY_HEADERS:
        shutil.copyfile(snappy / name, folder / name)
    shutil.copyfile(target.directory / "snappy-stubs-public.h", folder / "snappy-stubs-public.h")


def build() -> None:
    """Makes the benchmark for both machines and the reference library.

    For RV64GC also what user programs use: `libsnappy.a` (official) with its headers, and
    `librackwright.a` (drivers).
    """
    snappy = third_party("snappy_src") / "snappy"
    benchmark = sorted((SOFTWARE / "benchmark").glob("*.cpp"))
    drivers = [SOFTWARE / name for name in _DRIVER_SOURCES]

    riscv = _objects(RISCV, snappy, [*benchmark, *drivers])
    _link(RISCV, riscv, "snappy-benchmark")
    count = len(_SNAPPY_SOURCES)
    _archive(RISCV, riscv[:count], "libsnappy.a")
    _archive(RISCV, riscv[count + len(benchmark) :], "librackwright.a")
    _publish_headers(snappy, RISCV)

    host = _objects(HOST, snappy, benchmark)
    _link(HOST, host, "snappy-benchmark")
    _archive(HOST, host[:count], "libsnappy.a")
    _publish_headers(snappy, HOST)

    reference = _objects(REFERENCE, snappy, [])
    _link(REFERENCE, reference, "libsnappy.so", "-shared")
    (REFERENCE.directory / "libsnappy.so").replace(SOFTWARE_HOST / "libsnappy.so")
