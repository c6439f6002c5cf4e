"""Reads a design in SystemVerilog: its top module with parameters and ports, and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyslang
from pyslang import ast, driver

from rackwright.errors import RackwrightError
from rackwright.hardware.manifests import read_manifest
from rackwright.verilog.lists import has_variables, list_words

_COMMAND_LINE = "<command-line>"
"""Where slang says that the value of a parameter comes from."""


@dataclass(frozen=True)
class VerilogSources:
    """What a design is read from: files, lists of them (`.f`), folders of included files, macros, its top."""

    files: tuple[Path, ...]
    include: tuple[Path, ...] = ()
    define: Mapping[str, object] = field(default_factory=dict)
    top: str | None = None

    @classmethod
    def of_manifest(cls, manifest: Path) -> VerilogSources:
        """Those that a manifest names; raises as `read_manifest`."""
        record, folder = read_manifest(manifest), manifest.absolute().parent
        files = tuple(folder / file for file in record["verilog"])
        include = (folder, *(folder / each for each in record.get("include", ())))
        return cls(files, include, record.get("define", {}), record["top"])

    def arguments(self, parameters: Mapping[str, str]) -> list[str]:
        """The command line of slang that reads them, with values of parameters as it writes them."""
        words = ["slang", "--single-unit", "--timescale", "1ns/1ns", "--ignore-unknown-modules"]
        # A top module may have interfaces as ports: a scan gives their signals pins.
        words.append("--allow-toplevel-iface-ports")
        # What Verilator looks for beside an included file, or a module in a folder, is found here as well.
        beside = dict.fromkeys(file.absolute().parent for file in self.files)
        for folder in dict.fromkeys((*self.include, *beside)):
            words += ["-I", str(folder), "-y", str(folder)]
        words += ["--libext", ".sv"]
        words += [f"-D{name}={value}" for name, value in self.define.items()]
        words += [f"-G{name}={value}" for name, value in parameters.items()]
        if self.top is not None:
            words += ["--top", self.top]
        for file in self.files:
            words += ["-F", str(file)] if file.suffix == ".f" else [str(file)]
        return words


_DEFINES = re.compile(r"\s*`define\s+\w+\s+")
_NOTHING = re.compile(r"\s*(//.*)?\r?")


@dataclass(frozen=True)
class Complaint:
    """What slang says of a place: "FILE:LINE", or a file where it is about the design as a whole."""

    place: str
    text: str
    is_error: bool

    @property
    def is_of_parameters(self) -> bool:
        """Whether it is about the value of a parameter that was asked for."""
        return self.place.startswith(_COMMAND_LINE)


class VerilogDesign:
    """A design that slang has read. Raises `RackwrightError` for files that it cannot read."""

    def __init__(self, sources: VerilogSources, parameters: Mapping[str, str] | None = None) -> None:
        """Reads `sources`, whose top module gets `parameters`, as SystemVerilog writes them."""
        for file in sources.files:
            if not file.is_file():
                raise RackwrightError(f"{file}: no such file")
            if file.suffix == ".f" and has_variables(file):
                # Of a variable that is not set, slang makes nothing, and looks elsewhere for what is named.
                list_words(file)
        self._first = sources.files[0]
        self._driver = driver.Driver()
        self._driver.addStandardArgs()
        words = sources.arguments(parameters or {})
        read = self._driver.parseCommandLine(" ".join(map(quoted, words)), driver.CommandLineOptions())
        if not (read and self._driver.processOptions() and self._driver.parseAllSources()):
            raise RackwrightError(f"{sources.files[0]}: slang cannot read it, for the reason above")
        self._compilation = self._driver.createCompilation()
        self._engine = pyslang.DiagnosticEngine(self._driver.sourceManager)
        self.complaints = [self._complaint(each) for each in self._compilation.getAllDiagnostics()]

    @property
    def tops(self) -> Sequence[ast.InstanceSymbol]:
        """The top modules."""
        return list(self._compilation.getRoot().topInstances)

    @property
    def modules(self) -> set[str]:
        """The names of all modules that were read."""
        return {each.name for each in self._compilation.getDefinitions()}

    @property
    def imported_functions(self) -> list[str]:
        """The names of functions in C that it imports, which are not defined in the design."""
        found: dict[str, None] = {}

        def look(symbol: Any) -> Any:
            if isinstance(symbol, ast.SubroutineSymbol) and symbol.flags & ast.MethodFlags.DPIImport:
                found[symbol.name] = None
            return ast.VisitAction.Advance

        self._compilation.getRoot().visit(look)
        return list(found)

    @property
    def trees(self) -> Iterator[tuple[Any, Callable[[Any], Path | None]]]:
        """The syntax of what was read, and what tells in which file a part of it stands, if in any itself."""
        manager = self._driver.sourceManager

        def place(node: Any) -> Path | None:
            start = node.sourceRange.start
            if manager.isMacroLoc(start):
                return None
            return Path(manager.getRawFileName(start.buffer)).resolve()

        for tree in self._driver.syntaxTrees:
            yield tree.root, place

    def macro_use(self, node: Any) -> tuple[Path, int, int] | None:
        """Where a macro is used that stands for this part of the syntax alone: file, start and end."""
        manager = self._driver.sourceManager
        start, end = node.sourceRange.start, node.sourceRange.end
        if not (manager.isMacroLoc(start) and manager.isMacroLoc(end)):
            return None
        first, last = manager.getFullyOriginalLoc(start), manager.getFullyOriginalLoc(end)
        text = manager.getSourceText(first.buffer)
        before = text[: first.offset].rpartition("\n")[2]
        after = text[last.offset :].partition("\n")[0]
        if not (_DEFINES.fullmatch(before) and _NOTHING.fullmatch(after)):
            return None
        use = manager.getExpansionRange(start)
        name = Path(manager.getRawFileName(use.start.buffer)).resolve()
        return None if manager.isMacroLoc(use.start) else (name, use.start.offset, use.end.offset)

    @property
    def files(self) -> list[Path]:
        """Every file that was read, in order, without lists and without those that others include."""
        manager = self._driver.sourceManager
        design = pyslang.BufferKind.DesignFile
        buffers = (each for each in manager.getAllBuffers() if manager.getBufferKind(each) == design)
        names = [Path(manager.getRawFileName(each)) for each in buffers]
        return [name for name in names if name.suffix != ".f"]

    @property
    def included(self) -> dict[str, Path]:
        """The files that others include, by the name that they have there.

        Raises `RackwrightError` for a name that leads to different files.
        """
        manager = self._driver.sourceManager
        found: dict[str, Path] = {}
        for tree in self._driver.syntaxTrees:
            for directive in tree.getIncludeDirectives():
                path = Path(manager.getRawFileName(directive.buffer.id))
                if found.setdefault(directive.path, path) != path:
                    raise RackwrightError(f"{directive.path} is {found[directive.path]} and {path}")
        return found

    def _complaint(self, diagnostic: Any) -> Complaint:
        manager = self._driver.sourceManager
        place = manager.getFullyExpandedLoc(diagnostic.location)
        name = manager.getFileName(place)
        # What concerns the design as a whole has no place.
        where = f"{name}:{manager.getLineNumber(place)}" if name else str(self._first)
        return Complaint(where, self._engine.formatMessage(diagnostic), diagnostic.isError())


def quoted(word: str) -> str:
    """A word as slang's command line and its lists of files have it."""
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'
