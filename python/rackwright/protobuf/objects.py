"""Object files of generated classes, kept by content: they take longest to compile, and seldom change."""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bootstrap.paths import BUILD, PROTOBUF, SOFTWARE
from bootstrap.protobuf import INCLUDES
from bootstrap.software import Target
from rackwright.programs import run_compiler

_KEPT = BUILD / "protobuf" / "objects"

_RUNTIME_HEADERS = ("protobuf_type.h", "protobuf_map.h")
"""Those of `software/protobuf/rackwright` that generated headers include."""

_INCLUDE = re.compile(r'^#include [<"]([^<">]+\.pb\.h)[>"]', re.MULTILINE)


def compile_generated(source: Path, folder: Path, target: Target) -> Path:
    """Compiles a source that protoc has written below `folder`; gives the object file.

    What was compiled before, for any program, is not compiled again: well-known types are the same for all.
    Raises `RackwrightError` with what the compiler says.
    """
    command = [*target.compiler(source), *target.flags, "-Wall"]
    command += [f"-I{folder}", *(f"-I{path}" for path in INCLUDES), "-isystem", str(PROTOBUF / "include")]
    kept = _KEPT / f"{_key(source, folder, target)}.o"
    if not kept.exists():
        _KEPT.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=_KEPT) as scratch:
            made = Path(scratch) / kept.name
            run_compiler([*command, "-c", str(source), "-o", str(made)], Path(source.name))
            made.replace(kept)
    return kept


def _key(source: Path, folder: Path, target: Target) -> str:
    headers = [SOFTWARE / "protobuf" / "rackwright" / name for name in _RUNTIME_HEADERS]
    parts = [" ".join(target.compiler(source) + list(target.flags)).encode()]
    parts += [path.read_bytes() for path in (*headers, source, *_included(source, folder, set()))]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:24]


def _included(source: Path, folder: Path, seen: set[str]) -> Iterator[Path]:
    """The generated headers that a file includes, and those that they include, each once."""
    for name in _INCLUDE.findall(source.read_text(encoding="utf-8")):
        header = folder / name
        if name in seen or not header.exists():
            continue
        seen.add(name)
        yield header
        yield from _included(header, folder, seen)
