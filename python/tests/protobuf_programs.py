"""Compiles the C++ test programs of software/protobuf/tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bootstrap.paths import SOFTWARE
from rackwright.protobuf.program import NO_RELAXING, compile_program
from rackwright.protobuf.schema import read_schema

PROGRAMS = SOFTWARE / "protobuf" / "tests"

UNRELAXED = (NO_RELAXING,)
"""How programs are linked whose cycles nobody asks for."""


def compile_test(
    names: Sequence[str],
    protos: Sequence[Path],
    folder: Path,
    machine: str = "riscv64",
    options: Sequence[str] = (),
    relaxed: bool = False,
) -> Path:
    """Compiles `names` with the classes of `protos`, generated into `folder`; gives the program.

    The programs find all classes in `schemas.h`: CLASSES(X) there stands for X(class) of each. `relaxed` is
    for those whose cycles are asked for: they are linked as users' programs are.
    """
    sources: list[Path] = []
    classes: dict[str, str] = {}
    for proto in protos:
        schema = read_schema(proto)
        sources += schema.generate(folder)
        classes |= schema.classes
    headers = [source.relative_to(folder).with_suffix(".h") for source in sources]
    includes = "".join(f'#include "{header}"\n' for header in headers)
    listed = " \\\n    ".join(f"X({name})" for name in classes.values())
    (folder / "schemas.h").write_text(f"{includes}\n#define CLASSES(X) \\\n    {listed}\n")
    programs = [PROGRAMS / f"{name}.cpp" for name in names]
    flags = ["-O0", f"-I{PROGRAMS}", *([] if relaxed else UNRELAXED), *options]
    return compile_program([*sources, *programs], folder / names[0], machine, flags, include=folder)
