"""The benchmark program for a user's messages, for the host and for the simulated server."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from bootstrap.jobs import side_by_side
from bootstrap.paths import BUILD, PROTOBUF, STAMPS
from bootstrap.protobuf import HOST, INCLUDES
from bootstrap.software import RISCV, Target
from rackwright.errors import MissingBuildError
from rackwright.machine.programs import INCLUDES as DRIVER_INCLUDES
from rackwright.machine.programs import driver_archives, make_program, place_of
from rackwright.protobuf.objects import compile_generated
from rackwright.protobuf.schema import Schema, read_schema

_PROGRAMS: dict[str, Target] = {"host": HOST, "riscv64": RISCV}
_STRING = "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
_MESSAGE = "6google8protobuf11MessageLite"
_REPLACED = (
    f"_ZN{_MESSAGE}14ParseFromArrayEPKvi",
    f"_ZN{_MESSAGE}15ParseFromStringERK{_STRING}",
    f"_ZNK{_MESSAGE}16SerializeToArrayEPvi",
    f"_ZNK{_MESSAGE}17SerializeToStringEP{_STRING}",
    f"_ZNK{_MESSAGE}17SerializeAsStringB5cxx11Ev",
)
"""Functions of the official library, by their linker names, that `by_units` redirects to the units."""

_MAP = "6google8protobuf8internal12MapFieldBase"
_OF_REFLECTION = (
    f"_ZNK{_MAP}20IsRepeatedFieldValidEv",
    f"_ZNK{_MAP}16GetRepeatedFieldEv",
    f"_ZN{_MAP}20MutableRepeatedFieldEv",
)
"""Functions through which reflection accesses a map: in every program they first merge the entries parsed by
a unit.
"""

_SETTLED_MAPS = (
    *(f"-Wl,--wrap={name}" for name in _OF_REFLECTION),
    f"-Wl,--undefined=__wrap_{_OF_REFLECTION[0]}",
)

BY_UNITS = (
    *(f"-Wl,--wrap={name}" for name in _REPLACED),
    f"-Wl,--undefined=__wrap_{_REPLACED[0]}",
)
"""Linker options that redirect calls of the official library's functions to the units."""

_FOR_LINKER = "-Wl,"

NO_RELAXING = "-Wl,--no-relax"
"""Does not relax calls. Making them short takes the linker of Debian 12 14 s."""

MADE_FAST = "RACKWRIGHT_MADE_FAST"
"""An environment variable for tests that need results but no cycles: nothing is optimised or relaxed."""

_ARCHIVES = ("libbenchmark.a", "librackwright-protobuf.a", "libprotobuf.a")


@dataclass(frozen=True)
class Programs:
    """The compiled benchmark for each machine."""

    host: Path
    riscv64: Path


def compile_benchmark(
    schema: Schema, messages: Sequence[str], machines: Collection[str] = tuple(_PROGRAMS)
) -> Programs:
    """Compiles the benchmark for these messages; earlier objects are reused.

    Only the programs for `machines`, of "host" and "riscv64", exist afterwards.
    """
    folder = BUILD / "protobuf" / _key(schema, messages)
    programs = Programs(folder / "host", folder / "riscv64")
    missing = [name for name in machines if not (folder / name).exists()]
    if missing:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            work = Path(scratch)
            main = work / "main.cpp"
            main.write_text(main_source(schema, messages), encoding="utf-8")
            sources = schema.generate(work)
            made = side_by_side(
                lambda name: compile_program(
                    [*sources, main], work / name, name, _made_fast(name), include=work
                ),
                missing,
            )
            for path in made:
                shutil.move(path, folder / path.name)
    return programs


def compile_service(
    sources: Sequence[str | Path],
    proto: str | Path,
    *,
    include: Sequence[Path] = (),
    by_units: bool = False,
    options: Sequence[str] = (),
) -> Path:
    """Compiles a program of your own with the messages of a .proto file, for the simulated server.

    `by_units` is for unmodified programs: their calls of `ParseFromArray`, `ParseFromString`,
    `SerializeToArray`, `SerializeToString` and `SerializeAsString` of the official library are redirected to
    the units, as far as described in `docs/accelerate-my-messages.md`. `options` are the compiler's.

    Its sources find the messages' headers, the units' runtime (`rackwright/protobuf.h`) and the official
    library, and as by `rackwright.compile_program` our drivers and libsnappy. Returns the program, in a
    separate folder below .build/programs, named after the first source. Raises `RackwrightError` with the
    output of protoc or the compiler.
    """
    paths = [Path(source) for source in sources]
    options = [*options, *_made_fast(), *(BY_UNITS if by_units else ())]
    program = place_of(paths, None, [str(proto), *map(str, include), *options])
    with tempfile.TemporaryDirectory() as scratch:
        generated = read_schema(Path(proto), include).generate(Path(scratch))
        found = [*(f"-I{folder}" for folder in DRIVER_INCLUDES), *options]
        return compile_program(
            [*generated, *paths],
            program,
            options=found,
            include=Path(scratch),
            libraries=driver_archives(),
        )


def compile_program(
    sources: Sequence[Path],
    output: Path,
    machine: str = "riscv64",
    options: Sequence[str] = (),
    *,
    include: Path | None = None,
    libraries: Sequence[Path] = (),
) -> Path:
    """Compiles C++ sources that use protobuf and the units' runtime; returns `output`.

    `machine` is "riscv64" or "host". Headers are searched in `include`, by default the folder of the first
    source; `libraries` are linked after those of protobuf. Sources written by protoc (`.pb.cc`) are compiled
    once for all programs with these options. Raises `RackwrightError` with the compiler's output.
    """
    target = _PROGRAMS[machine]
    archives = [PROTOBUF / machine / name for name in _ARCHIVES]
    if not all(archive.exists() for archive in archives):
        raise MissingBuildError("the official protobuf library", "./rw protobuf")
    folder = include or sources[0].parent
    for_compiler = [option for option in options if not option.startswith(_FOR_LINKER)]
    parts = [
        compile_generated(source, folder, target, for_compiler) if source.name.endswith(".pb.cc") else source
        for source in sources
    ]
    command = [*target.compiler(sources[0]), *target.flags, "-Wall", f"-I{folder}"]
    command += [*(f"-I{path}" for path in INCLUDES), "-isystem", str(PROTOBUF / "include"), *options]
    command += [*map(str, parts), *map(str, [*archives, *libraries])]
    make_program([*command, *_SETTLED_MAPS, "-pthread"], output)
    return output


def _made_fast(machine: str = "riscv64") -> Sequence[str]:
    """Additional options for a machine, from the environment."""
    if os.environ.get(MADE_FAST) != "1":
        return ()
    return ("-O0", NO_RELAXING) if machine == "riscv64" else ("-O0",)


def _key(schema: Schema, messages: Sequence[str]) -> str:
    stamp = STAMPS / "protobuf"
    built = stamp.read_bytes() if stamp.exists() else b""
    parts = [built, schema.descriptors, "\0".join([*messages, *_made_fast()]).encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def main_source(schema: Schema, messages: Sequence[str]) -> str:
    """The benchmark's C++ driver for these messages."""
    cases = [f'benchmark::case_of<{schema.class_of(name)}>("{name}")' for name in messages]
    headers = [f'#include "{name.removesuffix(".proto")}.pb.h"\n' for name in schema.files]
    return (
        f'#include "benchmark/benchmark.h"\n{"".join(headers)}\n'
        "int main(int argument_count, char **arguments)\n{\n"
        f"    return benchmark::run(argument_count, arguments, {{{', '.join(cases)}}});\n}}\n"
    )
