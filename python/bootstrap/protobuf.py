"""Compiles the official Protocol Buffers C++ library, protoc, our plug-in and what programs link.

What is compiled from the official source is kept in the user's cache, so that it is made once for all
checkouts and everything works offline afterwards. What protoc and its plug-ins link is the system's, in the
same version. The library that is measured is not: compiled for this processor, it parses 1.28 times as fast.
Where nothing is measured, as in CI, programs of this machine link the system's too.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bootstrap import tools
from bootstrap.console import say
from bootstrap.jobs import side_by_side
from bootstrap.paths import PROTOBUF, SOFTWARE
from bootstrap.protobuf_source import SHA256, official_source, user_cache
from bootstrap.software import HOST_OPTIMISATION, MEASURED, RISCV, Target
from bootstrap.steps import execute

_TOOLS = ("protoc", "protoc-gen-rackwright")

OUTPUTS = (
    "include/google/protobuf/message.h",
    "host/libprotobuf.a",
    "riscv64/libprotobuf.a",
    "host/librackwright-protobuf.a",
    "riscv64/librackwright-protobuf.a",
    *(f"tools/{name}" for name in _TOOLS),
)
"""What `build` leaves in .build/software/protobuf."""

PLUGIN_SOURCES = SOFTWARE / "protoc"
RUNTIME_SOURCES = SOFTWARE / "protobuf"
PROCESS_SOURCES = SOFTWARE / "process"
INCLUDES = (RUNTIME_SOURCES, SOFTWARE / "include")
"""Where the runtime's headers are."""

_STEP = "protobuf"

_FLAGS = ("-DNDEBUG", "-DHAVE_PTHREAD", "-pthread", "-w")
HOST = Target(PROTOBUF / "host", "", (HOST_OPTIMISATION, "-march=native"))
"""The strongest baseline: with every instruction that this processor has."""

# As the library's own build lists them, without what converts to JSON and reads compressed streams.
_LIBRARY = """
any any.pb any_lite api.pb arena arenastring arenaz_sampler descriptor descriptor.pb
descriptor_database duration.pb dynamic_message empty.pb extension_set extension_set_heavy
field_mask.pb generated_enum_util generated_message_bases generated_message_reflection
generated_message_tctable_full generated_message_tctable_lite generated_message_util
implicit_weak_message inlined_string_field io/coded_stream io/printer io/strtod io/tokenizer
io/zero_copy_stream io/zero_copy_stream_impl io/zero_copy_stream_impl_lite map map_field message
message_lite parse_context reflection_ops repeated_field repeated_ptr_field service source_context.pb
struct.pb stubs/bytestream stubs/common stubs/int128 stubs/status stubs/statusor stubs/stringpiece
stubs/stringprintf stubs/structurally_valid stubs/strutil stubs/substitute stubs/time text_format
timestamp.pb type.pb unknown_field_set util/delimited_message_util util/field_comparator
util/message_differencer util/time_util wire_format wire_format_lite wrappers.pb
"""

_HEADERS = """
algorithm functional map memory string unordered_map unordered_set vector google/protobuf/descriptor.h
google/protobuf/dynamic_message.h google/protobuf/generated_message_util.h google/protobuf/message.h
google/protobuf/wire_format.h
"""
"""What the compiler reads once for all sources of a library: half a second for each, without it."""


@dataclass(frozen=True)
class Archive:
    """A static library that is made from some of the official sources for one machine."""

    name: str
    target: Target
    sources: tuple[str, ...]

    def key(self) -> str:
        """What its contents depend on, in short."""
        text = [SHA256, *self.target.flags, *_FLAGS, *self.sources, _compiler_version(self.target)]
        text += [_processor()] if "-march=native" in self.target.flags else []
        return hashlib.sha256("\0".join(text).encode()).hexdigest()[:16]


_ARCHIVES = (
    Archive("riscv64/libprotobuf.a", RISCV, tuple(_LIBRARY.split())),
    Archive("host/libprotobuf.a", HOST, tuple(_LIBRARY.split())),
)


def build() -> None:
    """Fetches and compiles what is missing; links it into .build and makes protoc and our plug-in."""
    source = official_source()
    for archive in _ARCHIVES:
        link = PROTOBUF / archive.name
        link.parent.mkdir(parents=True, exist_ok=True)
        is_measured = archive.target is RISCV or HOST_OPTIMISATION == MEASURED
        _link(_compiled(archive, source) if is_measured else _of_the_system(link.name), link)
    _link(source, PROTOBUF / "include")
    side_by_side(lambda name: _build_tool(name, source), _TOOLS)
    for target in (HOST, RISCV):
        _build_runtime(target, PROTOBUF / target.directory.name)


def _build_tool(name: str, source: Path) -> None:
    """Without optimisation: it runs for a moment per schema, so that compiling it fast matters more."""
    output = PROTOBUF / "tools" / name
    output.parent.mkdir(parents=True, exist_ok=True)
    folders = [PLUGIN_SOURCES / part for part in (name, "namespaces")]
    sources = [str(path) for folder in folders for path in sorted(folder.glob("*.cpp"))]
    strict = ["-Wall", "-Wextra", "-Werror"]
    command = ["g++", "-std=c++17", "-O0", *strict, "-pthread", "-isystem", str(source), *sources]
    execute(_STEP, [*command, "-lprotoc", "-lprotobuf", "-o", str(output)])


def _build_runtime(target: Target, folder: Path) -> None:
    """What programs link beside the official library to use the units, and the benchmark."""
    runtime, benchmark = (sorted(RUNTIME_SOURCES.glob(f"{part}*.cpp")) for part in ("", "benchmark/"))
    if target is RISCV:
        runtime += [PROCESS_SOURCES / name for name in ("residence.c", "sequence.c")]
    flags = ["-Wall", "-Wextra", "-Werror", *(f"-I{path}" for path in INCLUDES)]
    flags += ["-isystem", str(PROTOBUF / "include")]
    with tempfile.TemporaryDirectory() as objects:
        made = target.compile(_STEP, [*runtime, *benchmark], Path(objects), flags)
        target.archive(_STEP, folder / "librackwright-protobuf.a", made[: len(runtime)])
        target.archive(_STEP, folder / "libbenchmark.a", made[len(runtime) :])


def _link(made: Path, link: Path) -> None:
    """A symbolic link; one that is there is replaced."""
    link.unlink(missing_ok=True)
    link.symlink_to(made)


def _of_the_system(name: str) -> Path:
    """A static library among those that the compiler finds by itself."""
    command = ["g++", f"-print-file-name={name}"]
    return Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())


def _compiled(archive: Archive, source: Path) -> Path:
    """The static library in the user's cache, compiled when it is not there."""
    made = user_cache() / archive.key() / Path(archive.name).name
    if not made.exists():
        say(f"{_STEP}: compiling {archive.name} (once; kept in {user_cache()})")
        with tempfile.TemporaryDirectory(dir=user_cache()) as folder:
            result = Path(folder) / made.name
            archive.target.archive(_STEP, result, _objects(archive, source, Path(folder)))
            made.parent.mkdir(exist_ok=True)
            shutil.move(result, made)
    return made


def _objects(archive: Archive, source: Path, folder: Path) -> list[Path]:
    """Compiles the sources of a library."""
    flags = [*_FLAGS, f"-I{source}"]
    # Some sources get a constructor more by it. Simulated programs, whose digests are known, do without.
    if archive.target is HOST:
        flags += ["-include", str(_compiled_headers(flags, folder))]
    sources = [source / "google" / "protobuf" / f"{name}.cc" for name in archive.sources]
    return archive.target.compile(_STEP, sources, folder, flags)


def _compiled_headers(flags: list[str], folder: Path) -> Path:
    """A header with `_HEADERS`, which the compiler of the host has read already."""
    headers = folder / "headers.h"
    headers.write_text("".join(f"#include <{name}>\n" for name in _HEADERS.split()), encoding="ascii")
    command = [*HOST.compiler(headers), *HOST.flags, *flags]
    execute(_STEP, [*command, "-x", "c++-header", str(headers), "-o", f"{headers}.gch"])
    return headers


def _compiler_version(target: Target) -> str:
    return tools.version_of([f"{target.compiler_prefix}g++", "--version"]) or ""


def _processor() -> str:
    """What -march=native means here."""
    command = ["g++", "-march=native", "-Q", "--help=target"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout
