"""Workloads in a file: a bare-metal program with its data and arguments, and what is kept of a run.

The same file runs on a server (`rw run`) and on a chip alone (`rw soc run`).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bootstrap.paths import BUILD
from rackwright.errors import RackwrightError
from rackwright.files.document import DocumentReader, is_yaml, load_yaml
from rackwright.files.whole import write_whole
from rackwright.machine.programs import compile_bare_metal

HEADER = "units.h"
"""The header by which the sources of a workload reach the units of the machine."""

_FIELDS = ("program", "sources", "files", "arguments", "collect")
_COLLECTED = ("stdout", "report")
_DATA = "data.S"


@dataclass(frozen=True)
class WorkloadFile:
    """A program and its data.

    Either `program` is an ELF file, or `sources` are compiled, with the bytes of `files` from each symbol on,
    up to `SYMBOL_end`. The run's output is written to the file `stdout`, its record to `report`.
    """

    path: Path
    program: Path | None
    sources: tuple[Path, ...]
    files: Mapping[str, Path]
    arguments: tuple[str, ...]
    stdout: Path | None
    report: Path | None

    @classmethod
    def load(cls, path: Path) -> WorkloadFile:
        """Reads a YAML file. What it reads is relative to it, what is collected to the current folder.

        Raises `RackwrightError` that names file and field.
        """
        reader = DocumentReader(path)
        parts = reader.mapping("it", load_yaml(path), _FIELDS)
        if ("program" in parts) == ("sources" in parts):
            raise reader.error("it", "has not one of program and sources")
        files = reader.mapping("files", parts.get("files"), None)
        if files and "program" in parts:
            raise reader.error("files", "are compiled with sources; program is an ELF file already")
        for symbol in files:
            if not isinstance(symbol, str) or re.fullmatch(r"[A-Za-z_]\w*", symbol) is None:
                raise reader.error("files", f"has {symbol!r}, which is no name in C")
        collected = reader.mapping("collect", parts.get("collect"), _COLLECTED)
        words = _texts(reader, "arguments", parts.get("arguments", []))

        def named(where: str, name: Any) -> Path:
            if not isinstance(name, str):
                raise reader.error(where, f"is {name!r}, not a path")
            return Path(name)

        def there(where: str, name: Any) -> Path:
            file = path.parent / named(where, name)
            if not file.is_file():
                raise reader.error(where, f"is {name}: no such file")
            return file

        sources = _texts(reader, "sources", parts.get("sources", []))
        if "sources" in parts and not sources:
            raise reader.error("sources", "is empty")
        return cls(
            path,
            program=there("program", parts["program"]) if "program" in parts else None,
            sources=tuple(there(f"sources[{place}]", name) for place, name in enumerate(sources)),
            files={symbol: there(f"files.{symbol}", name) for symbol, name in files.items()},
            arguments=words,
            stdout=named("collect.stdout", collected["stdout"]) if "stdout" in collected else None,
            report=named("collect.report", collected["report"]) if "report" in collected else None,
        )

    def build(self, header: str) -> Path:
        """The program as an ELF file; `header` is the text of `units.h`.

        Raises `RackwrightError` with the compiler's output.
        """
        if self.program is not None:
            return self.program
        data = "".join(
            f'    .balign 64\n    .globl {symbol}, {symbol}_end\n{symbol}:\n    .incbin "{file.resolve()}"\n'
            f"{symbol}_end:\n    .byte 0\n"
            for symbol, file in self.files.items()
        )
        key = hashlib.sha256("\0".join((str(self.path.resolve()), header, data)).encode()).hexdigest()[:16]
        folder = BUILD / "programs" / f"workload-{key}"
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / HEADER, header)
        write_whole(folder / _DATA, f'    .section .rodata, "a"\n{data}')
        output = folder / f"{self.path.stem}.elf"
        return compile_bare_metal([*self.sources, folder / _DATA], output, [f"-I{folder}"])

    def collect(self, stdout: bytes, record: Mapping[str, Any]) -> None:
        """Writes what is to be kept of a run: its output, and its record as JSON."""
        text = json.dumps(record, indent=2) + "\n"
        for path, content in ((self.stdout, stdout), (self.report, text.encode())):
            if path is None:
                continue
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            except OSError as error:
                raise RackwrightError(f"{path}: {error.strerror}") from error


def workload_of(path: Path, arguments: Sequence[str]) -> WorkloadFile:
    """The workload of a YAML file, which says its arguments; or a program with `arguments`.

    Nothing is kept of a program's run. Raises like `WorkloadFile.load`.
    """
    if not is_yaml(path.name):
        return WorkloadFile(path, path, (), {}, tuple(arguments), None, None)
    if arguments:
        raise RackwrightError(f"{path}: says the arguments of its program; there are none after --")
    return WorkloadFile.load(path)


def _texts(reader: DocumentReader, where: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str | int) for each in value):
        raise reader.error(where, f"is {value!r}, not a list of words")
    return tuple(map(str, value))


def header_of(files: Sequence[Path]) -> str:
    """The text of `units.h` that includes these headers."""
    return "".join(f'#include "{file.resolve()}"\n' for file in files)
