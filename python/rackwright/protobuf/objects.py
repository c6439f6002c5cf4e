"""Object files of generated classes, cached by content: they take longest to compile, and rarely change."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from bootstrap.paths import BUILD, PROTOBUF, SOFTWARE
from bootstrap.protobuf import INCLUDES
from bootstrap.software import Target
from rackwright.files.whole import make_whole
from rackwright.machine.programs import run_compiler

_KEPT = BUILD / "protobuf" / "objects"

_RUNTIME_HEADERS = ("protobuf_type.h", "protobuf_map.h")
"""The headers of `software/protobuf/rackwright` that generated headers include."""

_INCLUDE = re.compile(r'^#include [<"]([^<">]+\.pb\.h)[>"]', re.MULTILINE)


def compile_generated(source: Path, folder: Path, target: Target, options: Sequence[str]) -> Path:
    """Compiles a source written by protoc below `folder`; returns the object file.

    Objects compiled earlier with these options, for any program, are reused: well-known types are the same
    for all. Raises `RackwrightError` with the compiler's output.
    """
    command = [*target.compiler(source), *target.flags, "-Wall", *options]
    command += [f"-I{folder}", *(f"-I{path}" for path in INCLUDES), "-isystem", str(PROTOBUF / "include")]
    kept = _KEPT / f"{_key(source, folder, target, options)}.o"
    if not kept.exists():
        _KEPT.mkdir(parents=True, exist_ok=True)
        compiled = [*command, "-c", str(source), "-o"]
        make_whole(kept, lambda made: run_compiler([*compiled, str(made)], Path(source.name)))
    return kept


def _key(source: Path, folder: Path, target: Target, options: Sequence[str]) -> str:
    headers = [SOFTWARE / "protobuf" / "rackwright" / name for name in _RUNTIME_HEADERS]
    parts = [" ".join([*target.compiler(source), *target.flags, *options]).encode()]
    parts += [path.read_bytes() for path in (*headers, source, *_included(source, folder, set()))]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:24]


def _included(source: Path, folder: Path, seen: set[str]) -> Iterator[Path]:
    """The generated headers that a file includes, directly or indirectly, each once."""
    for name in _INCLUDE.findall(source.read_text(encoding="utf-8")):
        header = folder / name
        if name in seen or not header.exists():
            continue
        seen.add(name)
        yield header
        yield from _included(header, folder, seen)
